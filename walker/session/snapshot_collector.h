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
  // How many threads have come so far.
  std::size_t threads() const noexcept { return snapshot_.threads.size(); }
  // To be called after `done`. In the result, modules are sorted by base, threads by id, and frames have the right
  // indices.
  Snapshot finish();

 private:
  bool add_thread(Thread thread);

  Snapshot snapshot_;
  std::unordered_map<std::uint64_t, std::string> functions_;
};

}  // namespace mixwalk
