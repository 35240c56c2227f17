#include "walker/hang/finding_gaps.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "walker/hang/finding_words.h"
#include "walker/hang/frame_names.h"
#include "walker/hang/wait_rules.h"

namespace mixwalk {
namespace {

// "Dump 1 has", "Dumps 1, 2 and 4 have"; for many dumps, only their number. `numbers`: not empty, ascending, from 0 on.
std::string dumps_have(const std::vector<std::size_t>& numbers) {
  constexpr std::size_t kMax = 5;
  if (numbers.size() > kMax) return std::to_string(numbers.size()) + " dumps have";
  std::string text = numbers.size() == 1 ? "Dump " : "Dumps ";
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i != 0) text += i + 1 == numbers.size() ? " and " : ", ";
    text += std::to_string(numbers[i] + 1);
  }
  return text + (numbers.size() == 1 ? " has" : " have");
}

// Whether the thread may be stuck. A thread that has just reached a lock is about to get it, as far as is known.
bool may_be_stuck(Verdict verdict) {
  return verdict == Verdict::stuck || verdict == Verdict::once || verdict == Verdict::unclear;
}

}  // namespace

void add_dump_gaps(std::span<const Snapshot> dumps, std::vector<std::string>& gaps) {
  std::map<std::uint32_t, std::vector<std::size_t>> cut;  // by the number of frames that they have
  std::map<std::string_view, std::vector<std::size_t>> unasked;  // by the reason
  std::vector<std::size_t> managed, some_threads;
  for (std::size_t i = 0; i < dumps.size(); ++i) {
    const Omissions& omissions = dumps[i].omissions;
    if (omissions.native_frames) managed.push_back(i);
    if (omissions.frames_beyond != 0) cut[omissions.frames_beyond].push_back(i);
    if (omissions.threads) some_threads.push_back(i);
    if (!dumps[i].unasked.empty()) unasked[dumps[i].unasked].push_back(i);
  }
  if (!managed.empty()) gaps.push_back(dumps_have(managed) + " no native frames (--managed-only)");
  for (const auto& [frames, numbers] : cut) {
    gaps.push_back(dumps_have(numbers) + " no more than " + count_words(frames, "frame") + " of each stack (--depth)");
  }
  if (!some_threads.empty()) gaps.push_back(dumps_have(some_threads) + " not all threads (--thread)");
  for (const auto& [why, numbers] : unasked) {
    gaps.push_back(dumps_have(numbers) + " no managed frames, or not all: " + clipped(why));
  }
}

void add_finding_gaps(const Snapshot& last, std::uint32_t dump, std::span<const ThreadHistory> threads,
                      std::vector<std::string>& gaps) {
  if (!last.locks_missing.empty()) gaps.push_back("Not all locks are known: " + clipped(last.locks_missing));
  std::set<std::uint32_t> in_locks;
  for (const Lock& lock : last.locks) {
    for (const LockWaiter& waiter : lock.waiters) in_locks.insert(waiter.os_id);
  }
  std::size_t ownerless = 0, clockless = 0, skipped = 0, taskless = 0;
  for (const ThreadHistory& thread : threads) {
    if (thread.last().dump != dump) continue;
    const bool for_lock = is_lock_wait(thread.last().wait.rule);
    const Thread& last_thread = last.threads[thread.last().thread];
    const bool for_task = thread.last().wait.rule == "task-wait" || thread.last().wait.rule == "pool-task-wait";
    taskless += for_task && last_thread.waits_for_task == AsyncTask::kNone;
    ownerless += for_lock && may_be_stuck(thread.verdict) && !in_locks.contains(thread.os_id);
    clockless += thread.verdict == Verdict::stuck && thread.since != dump && !thread.cpu;
    skipped += !last_thread.skipped.empty();
  }
  if (taskless != 0 && !last.tasks_missing.empty()) {
    gaps.push_back("It is not known for which task " + count_words(taskless, "thread") +
                   (taskless == 1 ? " waits: " : " wait: ") + clipped(last.tasks_missing));
  }
  if (ownerless != 0) {
    gaps.push_back(count_words(ownerless, "thread") + (ownerless == 1 ? " waits" : " wait") +
                   " for a lock whose holder the dump does not name");
  }
  if (clockless != 0) {
    gaps.push_back("Of " + count_words(clockless, "thread") + " it is not known whether " +
                   (clockless == 1 ? "it" : "they") +
                   " ran in between: the dumps do not have processor times of both moments");
  }
  if (skipped != 0) gaps.push_back(count_words(skipped, "thread") + " of the last dump had no stack");
}

}  // namespace mixwalk
