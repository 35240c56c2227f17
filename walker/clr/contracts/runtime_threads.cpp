#include "walker/clr/contracts/runtime_threads.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "walker/clr/question_messages.h"

namespace mixwalk {
namespace {

// An id that the runtime gives to threads without a thread of the system.
constexpr std::uint64_t kNoSystemThread = 0xBAAD'F00D;

}  // namespace

std::vector<ClrThread> runtime_threads(const RuntimeReader& reader) {
  std::vector<ClrThread> threads;
  const auto store = reader.variable("ThreadStore");
  const auto link = reader.descriptor().offset("Thread", "LinkNext");
  if (!store || !link) return threads;
  const auto count = reader.field<std::uint32_t>(*store, "ThreadStore", "ThreadCount");
  const std::uint64_t domain = reader.variable("AppDomain").value_or(0);
  const std::uint64_t pausing = reader.variable("GCThread").value_or(0);
  const std::size_t most = std::min<std::size_t>(count.value_or(0), kMaxClrThreads);
  std::unordered_set<std::uint64_t> seen;  // the list may be circular
  // Links lead to the link in the next thread.
  std::uint64_t at = reader.field(*store, "ThreadStore", "FirstThreadLink").value_or(0);
  while (threads.size() < most && at > *link && seen.insert(at).second) {
    const std::uint64_t address = at - *link;
    const auto id = reader.field<std::uint32_t>(address, "Thread", "Id");
    const auto os_id = reader.field(address, "Thread", "OSId");
    const auto cooperative = reader.field<std::uint32_t>(address, "Thread", "PreemptiveGCDisabled");
    const auto next = reader.field(address, "Thread", "LinkNext");
    if (!id || !os_id || !cooperative || !next) break;
    const bool started = *os_id != kNoSystemThread;
    threads.push_back({.address = address,
                       .os_id = started ? static_cast<std::uint32_t>(*os_id) : 0,
                       .managed_id = *id,
                       .domain = domain,
                       .cooperative = *cooperative != 0,
                       .pauses = address == pausing,
                       .object = reader.value(reader.field(address, "Thread", "GCHandle").value_or(0)).value_or(0),
                       .state = reader.field<std::uint32_t>(address, "Thread", "State").value_or(0),
                       .thrown = reader.field(address, "Thread", "LastThrownObject").value_or(0)});
    at = *next;
  }
  return threads;
}

std::vector<ClrThreadExceptions> runtime_exceptions(const RuntimeReader& reader, std::span<const ClrThread> threads) {
  using Exception = ClrThreadExceptions::Exception;
  std::vector<ClrThreadExceptions> found;
  for (const ClrThread& thread : threads) {
    if (thread.os_id == 0) continue;
    ClrThreadExceptions of{.os_id = thread.os_id, .exceptions = {}};
    std::uint64_t tracker = reader.field(thread.address, "Thread", "ExceptionTracker").value_or(0);
    const auto is_new = [&] {
      return std::ranges::find(of.exceptions, tracker, &Exception::tracker) == of.exceptions.end();
    };
    while (tracker != 0 && of.exceptions.size() < ClrThreadExceptions::kMost && is_new()) {
      const auto before = reader.field(tracker, "ExceptionInfo", "PreviousNestedInfo");
      const auto handle = reader.field(tracker, "ExceptionInfo", "ThrownObject");
      if (!before || !handle) break;
      // There is no handle as long as the runtime still prepares the exception.
      of.exceptions.push_back({tracker, reader.value(*handle).value_or(0)});
      tracker = *before;
    }
    std::erase_if(of.exceptions, [](const Exception& exception) { return exception.object == 0; });
    if (!of.exceptions.empty()) found.push_back(std::move(of));
  }
  return found;
}

AllocationRoom allocation_room(const RuntimeReader& reader, std::uint64_t thread) {
  const auto locals = reader.field(thread, "Thread", "RuntimeThreadLocals");
  const auto context = locals ? reader.address_of(*locals, "RuntimeThreadLocals", "AllocContext") : std::nullopt;
  if (!context) return {};
  // Since .NET 10, a context of the runtime's own is around that of the collector.
  const auto inner = reader.descriptor().offset("EEAllocContext", "GCAllocationContext");
  const std::uint64_t room = *context + inner.value_or(0);
  const auto begin = reader.field(room, "GCAllocContext", "Pointer");
  const auto limit = reader.field(room, "GCAllocContext", "Limit");
  return begin && limit ? AllocationRoom{*begin, *limit} : AllocationRoom{};
}

}  // namespace mixwalk
