#include "walker/clr/tasks/heap_tasks.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "walker/clr/tasks/delegates.h"
#include "walker/clr/tasks/task_reader.h"

namespace mixwalk {
namespace {

// The walk reads objects one after the other, so it reads so much at once, but nothing behind the part: that memory is
// often not there, and would be tried page by page.
constexpr std::size_t kWindowBytes = std::size_t{1} << 20;
// How many continuations of a task are looked at for the method that awaits it.
constexpr std::size_t kMaxListed = 16;

class WindowedMemory final : public MemoryReader {
 public:
  explicit WindowedMemory(const MemoryReader& memory) : memory_(memory) {}

  // From now on, the window ends here at the latest.
  void set_end(std::uint64_t end) { end_ = end; }

  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    if (bytes > kWindowBytes) return false;
    if (address - begin_ >= filled_ || bytes > filled_ - (address - begin_)) {
      const std::uint64_t left = end_ > address ? end_ - address : 0;
      const auto wanted = static_cast<std::size_t>(std::clamp<std::uint64_t>(left, bytes, kWindowBytes));
      if (window_.size() < wanted) window_.resize(wanted);
      begin_ = address;
      filled_ = memory_.read_up_to(address, window_.data(), wanted);
      if (bytes > filled_) return false;
    }
    std::memcpy(into, window_.data() + (address - begin_), bytes);
    return true;
  }

 private:
  const MemoryReader& memory_;
  mutable std::vector<std::byte> window_;
  std::uint64_t end_ = 0;
  mutable std::uint64_t begin_ = 0;
  mutable std::size_t filled_ = 0;
};

// What the walk wants to know of the objects of one type.
struct Wanted {
  enum class Kind : std::uint8_t { nothing, task, semaphore } kind = Kind::nothing;
  std::uint32_t flags = 0;  // offset of a Task's m_stateFlags
  std::uint32_t reference = 0;  // offset of its m_continuationObject, or of a semaphore's m_asyncHead
};

Wanted wanted_of(const ManagedType* type) {
  if (type == nullptr) return {};
  const bool semaphore = type->is("System.Threading.SemaphoreSlim");
  if (!type->task && !semaphore) return {};
  const ClrField* const reference = type->field(semaphore ? "m_asyncHead" : "m_continuationObject");
  const ClrField* const flags = type->field("m_stateFlags");
  if (reference == nullptr || (flags == nullptr && !semaphore)) return {};
  return {semaphore ? Wanted::Kind::semaphore : Wanted::Kind::task, semaphore ? 0 : flags->offset, reference->offset};
}

}  // namespace

HeapTasks read_heap_tasks(ManagedObjects& objects, std::size_t most, HeapDeadline deadline) {
  HeapTasks found;
  ManagedHeap heap = objects.clr().heap();
  std::unordered_map<std::uint64_t, Wanted> wanted;
  heap.types.bytes_of = [&](std::uint64_t method_table) {
    const ManagedType* const type = objects.type(method_table);
    wanted.emplace(method_table, wanted_of(type));
    return type != nullptr ? ObjectBytes{type->clr.base_bytes, type->clr.component_bytes} : ObjectBytes{};
  };
  WindowedMemory memory(objects.memory());
  found.whole = !heap.parts.empty();
  for (const HeapPart& part : heap.parts) {
    memory.set_end(part.end);
    const std::uint64_t end = walk_objects(
        memory, part, heap.types, deadline, [&](std::uint64_t object, std::uint64_t method_table) {
          const Wanted& of = wanted[method_table];
          if (of.kind == Wanted::Kind::nothing) return true;
          const auto reference = memory.read_value<std::uint64_t>(object + of.reference);
          if (of.kind == Wanted::Kind::semaphore) {
            if (reference.value_or(0) != 0) found.semaphores.emplace(*reference, object);
            return true;
          }
          const auto flags = memory.read_value<std::uint32_t>(object + of.flags);
          if (!flags || !reference || (*flags & kTaskEnded) != 0) return true;
          if (found.tasks.size() == most) return false;
          found.tasks.push_back({object, *reference});
          return true;
        });
    found.whole = found.whole && end >= std::max(part.end, part.limit);
    if (found.tasks.size() == most) break;
  }
  if (!std::ranges::is_sorted(found.tasks, {}, &HeapTasks::Task::address)) {
    std::ranges::sort(found.tasks, {}, &HeapTasks::Task::address);
  }
  return found;
}

std::vector<std::uint32_t> depths_in_chains(ManagedObjects& objects, const HeapTasks& heap, HeapDeadline end) {
  constexpr std::uint32_t kUnknown = 0xFFFF'FFFF, kOnPath = kUnknown - 1;  // instead of a depth
  constexpr std::uint32_t kNone = 0xFFFF'FFFF;                             // instead of an index: no task
  const std::vector<HeapTasks::Task>& tasks = heap.tasks;
  const auto index_of = [&](std::uint64_t object) {
    const auto found = std::ranges::lower_bound(tasks, object, {}, &HeapTasks::Task::address);
    const bool known = object != 0 && found != tasks.end() && found->address == object;
    return known ? static_cast<std::uint32_t>(found - tasks.begin()) : kNone;
  };
  // The method may be in an object that posts it to a context, or beside other continuations in a list.
  const auto method_in = [&](std::uint64_t continuation) {
    if (const std::uint32_t index = index_of(continuation); index != kNone) return index;
    const ManagedType* const type = objects.type_of(continuation);
    if (type == nullptr) return kNone;
    const std::uint64_t action = objects.reference(continuation, *type, "m_action");
    return index_of(target_of_delegate(objects, action != 0 ? action : continuation));
  };
  const auto awaiter_of = [&](std::uint32_t index) {
    const std::uint64_t continuation = tasks[index].continuation;
    if (continuation == 0) return kNone;
    if (const std::uint32_t method = method_in(continuation); method != kNone) return method;
    for (const std::uint64_t one : objects.references_of(continuation, kMaxListed).objects) {
      if (const std::uint32_t method = method_in(one); method != kNone) return method;
    }
    return kNone;
  };
  std::vector<std::uint32_t> depths(tasks.size(), kUnknown), path;
  std::size_t looked = 0;
  bool over = false;
  for (std::uint32_t first = 0; first < tasks.size(); ++first) {
    path.clear();
    std::uint32_t at = first;
    while (at != kNone && depths[at] == kUnknown && !over) {
      depths[at] = kOnPath;
      path.push_back(at);
      over = ++looked % 1024 == 0 && std::chrono::steady_clock::now() >= end;
      at = awaiter_of(at);
    }
    std::uint32_t depth = at == kNone || depths[at] >= kOnPath ? 0 : depths[at] + 1;
    for (auto on_path = path.rbegin(); on_path != path.rend(); ++on_path) depths[*on_path] = depth++;
    if (depths[first] == kUnknown) depths[first] = 0;
  }
  return depths;
}

std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> tasks_that_continue_with(
    ManagedObjects& objects, const HeapTasks& heap, const std::vector<std::uint64_t>& wanted, HeapDeadline end) {
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> found;
  std::unordered_set<std::uint64_t> of(wanted.begin(), wanted.end());
  // A list may have one object many times.
  const auto add = [&](std::uint64_t object, std::uint64_t task) {
    std::vector<std::uint64_t>& tasks = found[object];
    if (tasks.size() <= kMaxAwaits && (tasks.empty() || tasks.back() != task)) tasks.push_back(task);
  };
  std::size_t looked = 0;
  for (const HeapTasks::Task& task : heap.tasks) {
    if (++looked % 1024 == 0 && std::chrono::steady_clock::now() >= end) break;
    if (task.continuation == 0) continue;
    if (of.contains(task.continuation)) {
      add(task.continuation, task.address);
      continue;
    }
    const ManagedType* const list = objects.type_of(task.continuation);
    if (list == nullptr || !list->clr.name.starts_with("System.Collections.Generic.List<")) continue;
    for (const std::uint64_t object : objects.references_of(task.continuation, kMaxAwaits).objects) {
      if (of.contains(object)) add(object, task.address);
    }
  }
  return found;
}

}  // namespace mixwalk
