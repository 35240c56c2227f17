#include "walker/clr/object_questions.h"

#include <algorithm>
#include <chrono>

namespace mixwalk {
namespace {

constexpr std::size_t kMaxLayouts = 100'000;
// The time limit for one walk through the heap, because an answer must not be late (kClrAnswerMs). Thin locks that the
// walk did not reach are kept although they may be none. At a load of 16 on two cores, 250 ms were too short for a heap
// of a few MB, and the dump showed 61 locks that did not exist (locks_test, .NET 8).
constexpr std::chrono::milliseconds kHeapWalkTime{3000};

}  // namespace

std::vector<std::string> ObjectQuestions::object_types(std::span<const std::uint64_t> objects) {
  std::vector<std::string> types;
  for (const std::uint64_t object : objects) types.push_back(object_type(object));
  return types;
}

ManagedHeap& ObjectQuestions::known_heap(HeapDeadline deadline) {
  if (!heap_) heap_ = read_heap(deadline);
  return *heap_;
}

ManagedHeap ObjectQuestions::heap() {
  const ManagedHeap& known = known_heap(std::chrono::steady_clock::now() + kHeapWalkTime);
  return {.parts = known.parts, .types = {.bytes_of = nullptr, .free_room = known.types.free_room, .known = {}}};
}

// An address is kept if the walk through the heap does not reach it, because it is in or after memory that cannot be
// read, outside the known parts of the heap, or because kHeapWalkTime has passed.
std::vector<std::string> ObjectQuestions::heap_object_types(std::span<const std::uint64_t> addresses) {
  const HeapDeadline deadline = std::chrono::steady_clock::now() + kHeapWalkTime;
  ManagedHeap& heap = known_heap(deadline);
  std::vector<std::uint64_t> sorted(addresses.begin(), addresses.end());
  std::ranges::sort(sorted);
  const std::vector<std::uint64_t> objects = possible_objects(memory(), heap.parts, heap.types, sorted, deadline);
  std::vector<std::string> types;
  for (const std::uint64_t address : addresses) {
    types.push_back(std::ranges::binary_search(objects, address) ? object_type(address) : std::string());
  }
  return types;
}

std::vector<ClrType> ObjectQuestions::types(std::span<const std::uint64_t> method_tables) {
  std::vector<ClrType> types;
  for (const std::uint64_t method_table : method_tables) types.push_back(read_type(method_table));
  return types;
}

const std::optional<LockLayout>& ObjectQuestions::lock_layout(std::uint64_t method_table) {
  if (const auto known = lock_layouts_.find(method_table); known != lock_layouts_.end()) return known->second;
  if (lock_layouts_.size() == kMaxLayouts) lock_layouts_.clear();
  std::optional<LockLayout>& kept = lock_layouts_[method_table];
  auto fields = LockFields::of_type(type_name(method_table));
  if (!fields) return kept;
  for (const ClrField& field : read_type(method_table).fields) fields->add(field.name, field.offset);
  return kept = fields->layout();
}

std::optional<ClrLock> ObjectQuestions::lock_object(std::uint64_t object) {
  const std::uint64_t method_table = memory().read_value<std::uint64_t>(object).value_or(0) & ~kCollectorMarks;
  if (method_table == 0) return std::nullopt;
  const auto& layout = lock_layout(method_table);
  return layout && is_object(object, method_table) ? lock_at(memory(), object, *layout) : std::nullopt;
}

std::vector<std::optional<ClrLock>> ObjectQuestions::lock_objects(std::span<const std::uint64_t> objects) {
  std::vector<std::optional<ClrLock>> locks;
  for (const std::uint64_t object : objects) locks.push_back(lock_object(object));
  return locks;
}

void ObjectQuestions::target_ran() {
  heap_.reset();
  lock_layouts_.clear();
}

}  // namespace mixwalk
