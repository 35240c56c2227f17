#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "walker/clr/clr_questions.h"
#include "walker/clr/heap_walk.h"
#include "walker/clr/lock_layout.h"

namespace mixwalk {

// The questions about objects, as they are answered by code that reads the target's memory itself: by the runtime's
// contracts, and by its debugging library. Not frozen-safe; one thread at a time.
class ObjectQuestions : public ClrQuestions {
 public:
  std::vector<std::string> object_types(std::span<const std::uint64_t> objects) final;
  std::vector<ClrType> types(std::span<const std::uint64_t> method_tables) final;
  ManagedHeap heap() final;
  std::vector<std::string> heap_object_types(std::span<const std::uint64_t> addresses) final;
  std::vector<std::optional<ClrLock>> lock_objects(std::span<const std::uint64_t> objects) final;
  void target_ran() override;
  std::string obstacle() const final { return {}; }

 private:
  virtual const MemoryReader& memory() const = 0;
  // Returns an empty text if there is no object at the address, or only free room.
  virtual std::string object_type(std::uint64_t object) = 0;
  // Whether the object, whose first word leads to this MethodTable, is one for all that is known.
  virtual bool is_object(std::uint64_t /*object*/, std::uint64_t /*method_table*/) { return true; }
  // If the deadline passes, parts may be missing.
  virtual ManagedHeap read_heap(HeapDeadline deadline) = 0;
  // The type's full name; empty if there is no type at this address.
  virtual std::string type_name(std::uint64_t method_table) = 0;
  // The type has no name if there is none at this address, and no fields if they cannot be read.
  virtual ClrType read_type(std::uint64_t method_table) = 0;

  ManagedHeap& known_heap(HeapDeadline deadline);
  const std::optional<LockLayout>& lock_layout(std::uint64_t method_table);
  std::optional<ClrLock> lock_object(std::uint64_t object);

  std::optional<ManagedHeap> heap_;                                            // until the target runs
  std::unordered_map<std::uint64_t, std::optional<LockLayout>> lock_layouts_;  // by MethodTable
};

}  // namespace mixwalk
