#include "walker/hang/finding_words.h"

#include <algorithm>

#include "walker/hang/frame_names.h"

namespace mixwalk {
std::string_view words_of(const Lock& lock) noexcept {
  if (lock.is_loader_lock()) return kLoaderLock;
  switch (lock.kind) {
    case LockKind::monitor: return "monitor";
    case LockKind::critical_section: return "critical section";
    case LockKind::srw_lock: return "SRW lock";
    case LockKind::threading_lock: return "lock";
    case LockKind::mutex: return "mutex";
    case LockKind::send_message: return "answer to a window message";
    case LockKind::com_call: return "answer to a COM call";
    case LockKind::local_call: return "answer to a local procedure call";
    case LockKind::thread_end: return "end of a thread";
    case LockKind::pause: return "pause of all managed code";
  }
  return "lock";
}

std::string count_words(std::size_t count, std::string_view noun, std::string_view plural) {
  std::string text = std::to_string(count) + " ";
  if (count == 1) return text.append(noun);
  if (!plural.empty()) return text.append(plural);
  return text.append(noun) + "s";
}

std::string thread_words(const Thread& thread) {
  std::string text = "thread " + hex(thread.os_id);
  return thread.name.empty() ? text : text + " \"" + clipped(thread.name) + "\"";
}

std::string thread_words_at_start(const Thread& thread) { return "T" + thread_words(thread).substr(1); }

std::string lock_words(const Lock& lock) {
  std::string text = "the " + std::string(words_of(lock));
  if (lock.address != 0) text += " " + hex(lock.address);
  return lock.type.empty() || lock.is_loader_lock() ? text : text + " (" + clipped(lock.type) + ")";
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
    const std::uint64_t ran = std::min(*thread.cpu / 10'000, thread.milliseconds);
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

std::string_view key(WaitState state) noexcept {
  switch (state) {
    case WaitState::unknown: return "unknown";
    case WaitState::runs: return "runs";
    case WaitState::idle: return "idle";
    case WaitState::outside: return "outside";
    case WaitState::signal: return "signal";
    case WaitState::blocked: return "blocked";
    case WaitState::calls: return "calls";
  }
  return "";
}

std::string_view key(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::once: return "once";
    case Verdict::stuck: return "stuck";
    case Verdict::spinning: return "spinning";
    case Verdict::waiting: return "waiting";
    case Verdict::idle: return "idle";
    case Verdict::returned: return "returned";
    case Verdict::moved: return "moved";
    case Verdict::unclear: return "unclear";
    case Verdict::appeared: return "new";
    case Verdict::gone: return "gone";
  }
  return "";
}

std::string_view key(FindingKind kind) noexcept {
  switch (kind) {
    case FindingKind::deadlock: return "deadlock";
    case FindingKind::chain: return "chain";
    case FindingKind::class_constructor: return "class-constructor";
    case FindingKind::starved_pool: return "starved-pool";
    case FindingKind::finalizer: return "finalizer";
    case FindingKind::exit: return "exit";
    case FindingKind::common_call: return "common-call";
    case FindingKind::spinning: return "spinning";
    case FindingKind::stuck: return "stuck";
    case FindingKind::contended: return "contended";
  }
  return "";
}

std::string_view key(Severity severity) noexcept {
  switch (severity) {
    case Severity::deadlock: return "deadlock";
    case Severity::stuck: return "stuck";
    case Severity::note: return "note";
  }
  return "";
}

std::string_view verdict_words(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::once: return "seen once";
    case Verdict::stuck: return "stuck";
    case Verdict::spinning: return "spinning";
    case Verdict::waiting: return "waiting";
    case Verdict::idle: return "idle";
    case Verdict::returned: return "back at the same place";
    case Verdict::moved: return "moved";
    case Verdict::unclear: return "unclear";
    case Verdict::appeared: return "new";
    case Verdict::gone: return "gone";
  }
  return "";
}

std::string_view wait_state_words(WaitState state) noexcept {
  switch (state) {
    case WaitState::unknown: return "unknown";
    case WaitState::runs: return "running";
    case WaitState::idle: return "idle";
    case WaitState::outside: return "waiting for something outside";
    case WaitState::signal: return "waiting for a signal";
    case WaitState::blocked: return "blocked";
    case WaitState::calls: return "in native code";
  }
  return "";
}

}  // namespace mixwalk
