#include "walker/clr/thread_objects.h"

#include <algorithm>

#include "unmanaged/user_address.h"
#include "walker/clr/heap_walk.h"

namespace mixwalk {
namespace {

// How much of the runtime's Thread is searched for the handle, and for how many threads. It is at 440 in .NET 8. A
// thread that has just started has no object yet.
constexpr std::uint64_t kSearchedBytes = 1024;
constexpr int kSearchedThreads = 16;
constexpr char kType[] = "System.Threading.Thread", kBack[] = "_DONT_USE_InternalThread";

}  // namespace

std::uint64_t ThreadObjects::object_by(std::uint64_t handle, std::uint64_t thread, const MemoryReader& memory,
                                       ClrQuestions& clr) {
  if (!is_user_address(handle) || handle % 8 != 0) return 0;
  const std::uint64_t object = memory.read_value<std::uint64_t>(handle).value_or(0);
  if (!is_user_address(object) || object % 8 != 0) return 0;
  const std::uint64_t table = memory.read_value<std::uint64_t>(object).value_or(0) & ~kCollectorMarks;
  if (method_table_ == 0 && is_user_address(table)) {
    const ClrType type = clr.types({&table, 1}).front();
    const auto back = std::ranges::find(type.fields, kBack, &ClrField::name);
    if (type.name != kType || back == type.fields.end()) return 0;
    method_table_ = table;
    back_ = back->offset;
  }
  if (table != method_table_) return 0;
  return memory.read_value<std::uint64_t>(object + back_) == thread ? object : 0;
}

std::uint64_t ThreadObjects::object_of(std::uint64_t thread, const MemoryReader& memory, ClrQuestions& clr) {
  const auto by = [&](std::uint64_t offset) {
    return object_by(memory.read_value<std::uint64_t>(thread + offset).value_or(0), thread, memory, clr);
  };
  if (offset_) return by(*offset_);
  if (failed_ == kSearchedThreads) return 0;
  for (std::uint64_t offset = 0; offset < kSearchedBytes; offset += 8) {
    if (const std::uint64_t object = by(offset); object != 0) {
      offset_ = offset;
      return object;
    }
  }
  ++failed_;
  return 0;
}

}  // namespace mixwalk
