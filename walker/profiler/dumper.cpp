#include "walker/profiler/dumper.h"

#include <new>
#include <optional>

#include "walker/session/win/thread_list.h"

namespace mixwalk {

bool Dumper::dump(const DumpRequest& request) {
  sampler_.begin(request);
  const auto wanted =
      request.thread_ids.empty() ? list_threads() : std::optional(request.thread_ids);
  if (!wanted) throw std::bad_alloc();
  for (const std::uint32_t os_id : *wanted) {
    if (!sampler_.is_own_thread(os_id) && !send_thread(os_id, request)) return false;
  }
  return sink_(DumpDone{sampler_.breaker()});
}

bool Dumper::send_thread(std::uint32_t os_id, const DumpRequest& request) {
  WindowsThread thread(sampler_.supervisor());
  if (!thread.open(os_id)) {
    return sink_(Thread{.os_id = os_id,
                        .skipped = "the thread has ended, or may not be opened"});
  }
  const std::string description = thread_description(thread.handle());
  auto sample = sampler_.sample(thread, os_id, request);
  if (!sample) return false;
  if (const char* obstacle = sampler_.obstacle(); obstacle != nullptr && !sample->thread.skipped.empty()) {
    sink_(Problem{obstacle});
    return false;
  }
  if (sample->thread.name.empty()) sample->thread.name = description;
  return send(std::move(sample->thread)) && (!sample->copied || send(std::move(*sample->copied)));
}

bool Dumper::send(Thread thread) {
  for (const auto modules = sampler_.modules(); sent_modules_ < modules.size(); ++sent_modules_) {
    if (!sink_(modules[sent_modules_])) return false;
  }
  for (const Frame& frame : thread.stack.frames) {
    if (frame.function == 0) continue;
    // A FunctionID may be used again in the course of a dump.
    const auto [sent, added] = sent_functions_.try_emplace(frame.function, frame.name);
    if (!added && sent->second == frame.name) continue;
    sent->second = frame.name;
    if (!sink_(FunctionName{frame.function, frame.name})) return false;
  }
  return sink_(std::move(thread));
}

}  // namespace mixwalk
