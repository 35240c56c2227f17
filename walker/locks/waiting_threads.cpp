#include "walker/locks/waiting_threads.h"

#include <algorithm>

#include "walker/suspended/raw_sample.h"

namespace mixwalk {

WaitingThreads::WaitingThreads(Target& target) : target_(target) {
  for (const TargetThread& thread : target.threads()) by_id_[thread.os_id] = &thread;
}

std::vector<std::uint64_t> WaitingThreads::words_of(const Thread& thread, std::uint64_t end, std::uint64_t max_bytes) {
  const auto known = by_id_.find(thread.os_id);
  if (known == by_id_.end() || thread.stack.frames.empty()) return {};
  RawSample sample({stack_.get(), kStackBytes}, {});
  target_.capture(*known->second, sample);
  const StackFrame& leaf = thread.stack.frames.front();
  if (sample.fault != CaptureFault::none || sample.context.rip != leaf.address) return {};
  if (sample.context.rsp() != leaf.stack_pointer) return {};
  std::vector<std::uint64_t> words(sample.context.general.begin(), sample.context.general.end());
  end = std::min(end, leaf.stack_pointer + max_bytes);
  for (std::uint64_t at = leaf.stack_pointer; at + 8 <= end; at += 8) {
    if (const auto word = sample.stack.word(at)) words.push_back(*word);
  }
  return words;
}

}  // namespace mixwalk
