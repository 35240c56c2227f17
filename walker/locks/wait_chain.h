#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "walker/model/snapshot.h"
#include "walker/target/target.h"

namespace mixwalk {

// A node of a wait chain of the system: a thread, or an object for which a thread waits. (Microsoft Learn, "Wait Chain
// Traversal"; wct.h: WAITCHAIN_NODE_INFO.)
struct WaitChainNode {
  bool is_thread = false;
  // For a thread; 0 if unknown.
  std::uint32_t process_id = 0, thread_id = 0;
  // For an object. Has no value if the model has no kind for the object (a process, a socket, an unknown object).
  std::optional<LockKind> kind;
  std::string name;  // of an object that has one, UTF-8
};

// The lock for which the first thread of a chain waits, with the owner that the next node names. If the owner is in
// another process, the lock's type names it. Returns nothing if the thread waits for no object with a known owner.
std::optional<Lock> lock_of_chain(std::span<const WaitChainNode> chain, std::uint32_t process_id);

// Returns the chain of a thread, by its id; empty if none is known.
using AskWaitChain = std::function<std::vector<WaitChainNode>(std::uint32_t)>;

// Adds the answers of `ask` for those threads of a live process that wait for none of the snapshot's locks. A thread is
// captured again around the answers, and an answer is added only if it came twice and the thread did not move in
// between. Not frozen-safe.
void add_wait_chains(Snapshot& snapshot, Target& target, const AskWaitChain& ask);

}  // namespace mixwalk
