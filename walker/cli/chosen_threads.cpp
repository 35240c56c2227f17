#include "walker/cli/chosen_threads.h"

#include <utility>
#include <vector>

#include "walker/hang/thread_roles.h"

namespace mixwalk {

void keep_chosen_threads(Snapshot& snapshot, const ThreadSelection& chosen, UnmatchedThreads& unmatched) {
  const std::vector<ThreadRoles> roles = chosen.has_main() ? thread_roles(snapshot) : std::vector<ThreadRoles>();
  std::vector<Thread> kept;
  for (std::size_t i = 0; i < snapshot.threads.size(); ++i) {
    Thread& thread = snapshot.threads[i];
    unmatched.met(thread.os_id, thread.name);
    const bool is_main = !roles.empty() && roles[i].main;
    if (is_main) unmatched.met_main();
    if (is_main || chosen.contains(thread.os_id, thread.name)) kept.push_back(std::move(thread));
  }
  snapshot.threads = std::move(kept);
  snapshot.omissions.threads = !chosen.empty();
}

}  // namespace mixwalk
