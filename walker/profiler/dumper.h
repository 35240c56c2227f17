#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "walker/profiler/sampler.h"
#include "walker/session/protocol.h"

namespace mixwalk {

// One dump: samples every thread of this process once, one by one or all together, and sends the samples. Runs on the
// agent's thread.
class Dumper {
 public:
  using Sink = std::function<bool(const Message&)>;  // returns false if the pipe is broken

  Dumper(Sampler& sampler, const Sink& sink) : sampler_(sampler), sink_(sink) {}

  // Returns false if the sink refused a message, or the process is ending.
  bool dump(const DumpRequest& request);

 private:
  struct Waiting {
    std::uint32_t os_id = 0;
    ThreadHandle thread;
    std::string description;
    Thread freezes;  // what the freezes of earlier moments cost the thread
    // The result of an earlier moment: a stack with a gap. The gap may be in code that was being unloaded.
    std::optional<Thread> partial;
  };
  using Threads = std::vector<std::unique_ptr<Waiting>>;

  bool dump_at_once(const DumpRequest& request);
  bool find_threads(const DumpRequest& request, std::set<std::uint32_t>& met, Threads& waiting);
  bool sample_moment(Threads& waiting, bool& overdue);
  bool send_thread(std::uint32_t os_id, const DumpRequest& request, Waiting* before = nullptr);
  bool can_go_on(const Thread& thread);
  bool may_freeze();
  bool send(Thread thread);

  Sampler& sampler_;
  const Sink& sink_;
  std::vector<Moment> moments_;
  std::size_t sent_modules_ = 0, sent_assemblies_ = 0;
  std::unordered_map<std::uint64_t, std::string> sent_functions_;  // the name that was sent last
};

}  // namespace mixwalk
