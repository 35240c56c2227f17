#include "walker/clr/contracts/runtime_threads.h"

#include <algorithm>
#include <unordered_set>

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
