#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "walker/model/snapshot.h"
#include "walker/outside/target.h"

namespace mixwalk {

// A node of a wait chain of the system: a thread, or what a thread waits for.
// (Microsoft Learn, "Wait Chain Traversal"; wct.h: WAITCHAIN_NODE_INFO.)
struct WaitChainNode {
  bool is_thread = false;
  // Of a thread; 0 if unknown.
  std::uint32_t process_id = 0, thread_id = 0;
  // Of what is waited for. Has no value if the model knows no kind for the object (a process, a socket, something
  // unknown).
  std::optional<LockKind> kind;
  std::string name;  // of an object that has one, UTF-8
};

// What the first thread of a chain waits for, with the owner that the next node names. An owner in another process
// stands in the lock's type instead. Returns nothing if the thread waits for nothing that has a known owner.
std::optional<Lock> lock_of_chain(std::span<const WaitChainNode> chain, std::uint32_t process_id);

// The chain of a thread, by its id; empty if none is known.
using AskWaitChain = std::function<std::vector<WaitChainNode>(std::uint32_t)>;

// Adds what `ask` says of those threads of a live process that wait for none of the snapshot's locks. A thread is
// captured again around the answers: only what is said of a thread that stood still all the time, twice, is added. Not
// frozen-safe.
void add_wait_chains(Snapshot& snapshot, Target& target, const AskWaitChain& ask);

}  // namespace mixwalk
