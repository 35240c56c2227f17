#include "walker/export/shown_recording.h"

#include "walker/hang/thread_roles.h"
#include "walker/shown/words.h"

namespace mixwalk {

ShownRecording::ShownRecording(const Recording& of, bool fold)
    : recording(of),
      stacks(of, fold),
      unit(mixwalk::unit(of.event)),
      timed(unit == "nanoseconds"),
      rate(rate_sentence(of)),
      standings(standing_sentence(of)) {
  const std::vector<ThreadRoles> roles = thread_roles(of);
  for (std::size_t i = 0; i < roles.size(); ++i) threads.push_back({thread_label(of.threads[i]), role_words(roles[i])});
}

}  // namespace mixwalk
