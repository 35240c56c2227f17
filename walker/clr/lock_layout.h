#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "unmanaged/step/memory_reader.h"
#include "walker/clr/clr_questions.h"

namespace mixwalk {

// The offsets of the fields of a System.Threading.Lock, in bytes from the object's address. Of a ReaderWriterLockSlim,
// `state` is the field _owners, and `upgrade_owner` and `counters` are set instead of `recursion` and `wait_event`. Of
// a SemaphoreSlim, `state` is its count, and `wait_event` the object in whose monitor threads wait.
struct LockLayout {
  bool reader_writer = false, semaphore = false;
  std::uint64_t owner = 0, state = 0, recursion = 0, wait_event = 0;
  std::uint64_t upgrade_owner = 0;
  std::array<std::uint64_t, 4> counters{};  // of threads that wait, by what they wait for
};

// Finds the layout by the names of a type's fields.
class LockFields {
 public:
  // `type`: the type's full name. Returns nothing if objects of this type are no such locks.
  static std::optional<LockFields> of_type(std::string_view type);
  void add(std::string_view field, std::uint64_t offset);
  // Returns nothing if the fields are not the known ones.
  std::optional<LockLayout> layout() const;

 private:
  LockLayout layout_;
};

// The lock at the address of an object of that type. Returns nothing if it cannot be read. Nothing of the target is
// trusted. Not frozen-safe, since the reader may be any.
std::optional<ClrLock> lock_at(const MemoryReader& memory, std::uint64_t object, const LockLayout& layout);

}  // namespace mixwalk
