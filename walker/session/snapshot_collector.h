#pragma once

#include <string>
#include <unordered_map>

#include "walker/model/snapshot.h"
#include "walker/session/protocol.h"

namespace mixwalk {

// Builds a Snapshot from the messages of a dump. Pure; the messages are not trusted.
class SnapshotCollector {
 public:
  enum class Step { more, done, protocol_error };

  void begin(const Hello& hello, Engine engine);
  Step accept(Message message);
  // After `done`: modules sorted by base, threads by id, frames pointing at the right ones.
  Snapshot finish();

 private:
  bool add_thread(Thread thread);

  Snapshot snapshot_;
  std::unordered_map<std::uint64_t, std::string> functions_;
};

}  // namespace mixwalk
