#include "walker/locks/wait_chain.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "walker/locks/waiting_threads.h"
#include "walker/model/thread_locks.h"

namespace mixwalk {
namespace {

// The frames in which a thread waits lie in this many bytes. They are enough to see that the thread has continued.
constexpr std::uint64_t kMaxChainBytes = 4096;
constexpr std::uint64_t kNoEnd = std::numeric_limits<std::uint64_t>::max();

// `has_name`: whether the lock has a name. A name means one object. Objects without a name may be several, even with
// one owner.
void add(std::vector<Lock>& locks, Lock lock, bool has_name, std::uint32_t waiter) {
  lock.waiters = {{waiter, false}};
  const auto same = std::ranges::find_if(locks, [&](const Lock& known) {
    return known.kind == lock.kind && known.type == lock.type && known.owner == lock.owner;
  });
  if (has_name && same != locks.end()) {
    same->waiters.push_back(lock.waiters.front());
  } else {
    locks.push_back(std::move(lock));
  }
}

}  // namespace

std::optional<Lock> lock_of_chain(std::span<const WaitChainNode> chain, std::uint32_t process_id) {
  if (chain.size() < 3 || !chain[0].is_thread || chain[1].is_thread || !chain[2].is_thread) return std::nullopt;
  const WaitChainNode& object = chain[1];
  const WaitChainNode& owner = chain[2];
  if (!object.kind || owner.thread_id == 0) return std::nullopt;
  Lock lock{.kind = *object.kind, .type = object.name, .held = true};
  if (owner.process_id == process_id) {
    lock.owner = owner.thread_id;
    return lock;
  }
  if (!lock.type.empty()) lock.type += ", ";
  lock.type += "of thread " + std::to_string(owner.thread_id) + " of process " + std::to_string(owner.process_id);
  return lock;
}

void add_wait_chains(Snapshot& snapshot, Target& target, const AskWaitChain& ask) {
  std::set<std::uint32_t> known;
  for (const Lock& lock : snapshot.locks) {
    for (const LockWaiter& waiter : lock.waiters) known.insert(waiter.os_id);
  }
  WaitingThreads threads(target);
  std::vector<Lock> found;
  for (const Thread& thread : snapshot.threads) {
    if (known.contains(thread.os_id) || thread.stack.frames.empty()) continue;
    const auto chain = ask(thread.os_id);
    const auto lock = lock_of_chain(chain, snapshot.process.id);
    if (!lock) continue;
    const auto words = threads.words_of(thread, kNoEnd, kMaxChainBytes);
    if (words.empty() || lock_of_chain(ask(thread.os_id), snapshot.process.id) != lock) continue;
    if (threads.words_of(thread, kNoEnd, kMaxChainBytes) == words) {
      add(found, *lock, !chain[1].name.empty(), thread.os_id);
    }
  }
  add_locks(snapshot, std::move(found));
}

}  // namespace mixwalk
