#include "walker/hang/finding_words.h"

#include <algorithm>

#include "walker/base/file_time.h"
#include "walker/hang/frame_names.h"

namespace mixwalk {
namespace {

constexpr EnumTexts<kLastLockKind> kLockWords{
    "monitor",
    "critical section",
    "SRW lock",
    "lock",
    "mutex",
    "answer to a window message",
    "answer to a COM call",
    "answer to a local procedure call",
    "end of a thread",
    "pause of all managed code",
    "semaphore",
    "end of a callback"};

constexpr EnumTexts<Verdict::gone> kVerdictWords{
    "seen once", "stuck", "spinning", "waiting", "idle", "back at the same place", "moved", "unclear", "new", "gone"};

constexpr EnumTexts<WaitState::calls> kWaitStateWords{
    "unknown", "running", "idle", "waiting for something outside", "waiting for a signal", "blocked", "in native code"};

}  // namespace

std::string_view words_of(const Lock& lock) noexcept {
  return lock.is_loader_lock() ? kLoaderLock : kLockWords.of(lock.kind, "lock");
}

std::string thread_words(const Thread& thread, std::string_view begin) {
  const std::string text = std::string(begin) + " " + hex(thread.os_id);
  return thread.name.empty() ? text : text + " \"" + clipped(thread.name) + "\"";
}

std::string lock_words(const Lock& lock) {
  std::string text = "the " + std::string(words_of(lock));
  if (lock.address != 0) text += " " + hex(lock.address);
  return lock.type.empty() || lock.is_loader_lock() ? text : text + " (" + clipped(lock.type) + ")";
}

std::string open_semaphore_words(const Lock& semaphore) {
  const std::size_t known = semaphore.sharers.size() + semaphore.task_holders.size();
  std::string text;
  if (semaphore.recursion == 0) {
    text = "It is not known how many can enter " + lock_words(semaphore);
  } else {
    text = std::to_string(semaphore.recursion) + " can enter " + lock_words(semaphore) + ", and only " +
           std::to_string(known) + (known == 1 ? " that has entered it is known" : " that have entered it are known");
  }
  return text + ". So another thread or task may have entered it too, and may release it.";
}

std::string time_words(std::uint64_t milliseconds) {
  if (milliseconds < 1000) return std::to_string(milliseconds) + " ms";
  if (milliseconds < 10'000 && milliseconds % 1000 >= 100) {
    return std::to_string(milliseconds / 1000) + "." + std::to_string(milliseconds % 1000 / 100) + " s";
  }
  const std::uint64_t seconds = milliseconds / 1000;
  if (seconds < 120) return std::to_string(seconds) + " s";
  if (seconds < 7200) return std::to_string(seconds / 60) + " min " + std::to_string(seconds % 60) + " s";
  return std::to_string(seconds / 3600) + " h " + std::to_string(seconds % 3600 / 60) + " min";
}

std::string state_words(const ThreadHistory& thread) {
  if (thread.verdict == Verdict::spinning && thread.cpu) {
    // The processor times are read a little later than the stacks, so the thread may have run for longer than the time.
    const std::uint64_t ran = std::min(*thread.cpu / kTicksOfMs, thread.milliseconds);
    return "ran for " + time_words(ran) + " of " + time_words(thread.milliseconds) + " and did not leave its function";
  }
  const std::string& words = thread.last().wait.words;
  return words.empty() ? "nothing is known of what it does" : words;
}

std::string behind_words(std::size_t count) {
  return count_words(count, "more thread") + (count == 1 ? " waits behind them." : " wait behind them.");
}

std::string unlisted_words(std::size_t unlisted, std::size_t all) {
  return std::to_string(unlisted) + " of these " + count_words(all, "thread") + (unlisted == 1 ? " is" : " are") +
         " not listed below.";
}

std::string duration_words(std::span<const ThreadHistory> threads, const Finding& finding) {
  std::uint64_t shortest = 0;
  bool all = !finding.threads.empty();
  for (const FindingThread& part : finding.threads) {
    const ThreadHistory& thread = threads[part.thread];
    const bool unmoved = thread.since != thread.last().dump || thread.verdict == Verdict::spinning;
    all = all && unmoved && thread.milliseconds != 0;
    shortest = shortest == 0 ? thread.milliseconds : std::min(shortest, thread.milliseconds);
  }
  if (!all) return {};
  return "This has lasted for at least " + time_words(shortest) + ".";
}

std::string_view verdict_words(Verdict verdict) noexcept { return kVerdictWords.of(verdict); }
std::string_view wait_state_words(WaitState state) noexcept { return kWaitStateWords.of(state); }

}  // namespace mixwalk
