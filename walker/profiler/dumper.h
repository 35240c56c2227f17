#pragma once

#include <functional>
#include <string>
#include <unordered_map>

#include "walker/profiler/sampler.h"
#include "walker/session/protocol.h"

namespace mixwalk {

// One dump: every thread of this process is sampled once and sent at once. Runs on the agent's thread.
class Dumper {
 public:
  using Sink = std::function<bool(const Message&)>;  // false: the pipe is broken

  Dumper(Sampler& sampler, const Sink& sink) : sampler_(sampler), sink_(sink) {}

  // False: the sink refused, or the process is ending.
  bool dump(const DumpRequest& request);

 private:
  bool send_thread(std::uint32_t os_id, const DumpRequest& request);
  bool send(Thread thread);

  Sampler& sampler_;
  const Sink& sink_;
  std::size_t sent_modules_ = 0;
  std::unordered_map<std::uint64_t, std::string> sent_functions_;  // the name that was sent last
};

}  // namespace mixwalk
