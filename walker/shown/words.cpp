#include "walker/shown/words.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "unmanaged/ascii_lower.h"
#include "walker/model/reached_rate.h"
#include "walker/suspended/refusal.h"

namespace mixwalk {

namespace {

constexpr EnumTexts<FrameKind::gap> kLetters{"M", "N", "S", "G"};

constexpr EnumTexts<kLastLockKind> kLockSentences{
    "object",
    "critical section",
    "slim reader/writer lock",
    "System.Threading.Lock",
    "mutex",
    "the answer to a window message",
    "the answer to a COM call",
    "the answer to a local procedure call",
    "the end of a thread",
    "the pause of all managed code",
    "System.Threading.SemaphoreSlim",
    "the end of a callback"};

constexpr EnumTexts<kLastOpenReason> kReasonSentences{
    "no reason is known",
    "a saved register lies outside the copied stack",
    "the unwind data is gone; was a module unloaded?",
    "the unwind data contradicts itself",
    "the code has no unwind data",
    "the caller would not lie above its callee",
    "more frames than a stack can have",
    "the next managed frame was passed without being met",
    "the thread's root came before the next managed frame",
    "the next managed frame was met in another function",
    "the stack was larger than the copy, or a page of it may not be read",
    "the word at the top of the stack is no certain return address",
    "the stack ended in a frame that does not start a thread",
    "the walk took too long",
    "the thread does not stand on its own stack",
    "return address replaced by the runtime (GC)",
    "unwind information of version 3 (APX)",
    "only a function of the process has the unwind data of this code"};

constexpr EnumTexts<CallCheck::elsewhere> kCallSentences{"", "", "", "after no call",
                                                         "after a call of another function"};

constexpr EnumTexts<ClrStub::delegate_invoke> kStubWords{"",        "P/Invoke", "callback",
                                                         "COM out", "COM in",   "delegate invoke"};

}  // namespace

std::string_view sentence(LockKind kind) noexcept { return kLockSentences.of(kind); }
std::string_view sentence(OpenReason why) noexcept { return kReasonSentences.of(why); }
std::string_view sentence(CallCheck call) noexcept { return kCallSentences.of(call); }
std::string_view words_of(ClrStub stub) noexcept { return kStubWords.of(stub); }

char letter(FrameKind kind) noexcept { return kLetters.of(kind, "W").front(); }

std::string runtime_text(const Runtime& runtime) {
  if (runtime.name.empty()) return "no .NET runtime";
  return fmt::format("{} {}.{}.{}", runtime.name, runtime.major, runtime.minor, runtime.build);
}

std::string_view outside_sentence(const Snapshot& snapshot) {
  const bool loaded = std::ranges::any_of(
      snapshot.modules, [](const Module& module) { return ascii_lower(module_name(module)) == "mixwalk.dll"; });
  return loaded ? "mixwalk.dll is in the process from an earlier look, and did nothing"
                : "nothing was loaded into the process";
}

RateWords rate_words(double reached_hz, std::uint64_t period_ns) {
  constexpr double kSecondNs = 1e9;
  return {reached_hz < 1 ? fmt::format("{:.2g}", reached_hz) : fmt::format("{:.1f}", reached_hz),
          // A period is a whole number of nanoseconds, so 7,000 samples a second are 7,000.007.
          period_ns == 0 ? "" : fmt::format("{:.5g}", kSecondNs / static_cast<double>(period_ns))};
}

std::string rate_sentence(const Recording& recording) {
  const auto reached = reached_hz(recording);
  if (!reached) return "";
  const RateWords rate = rate_words(*reached, recording.period_ns);
  const std::string words = rate.reached + " samples a second of each thread";
  return rate.asked.empty() ? words : fmt::format("{}, {} asked for", words, rate.asked);
}

std::string standing_sentence(const StandingSums& sums) {
  if (sums.share(Standing::unknown) == 1) return {};
  std::string text;
  for (const Standing standing : {Standing::idle, Standing::waits, Standing::runs, Standing::unknown}) {
    const double share = sums.share(standing);
    if (share == 0) continue;
    const std::string percent = share < 0.005 ? "less than 1 %" : fmt::format("{:.0f} %", 100 * share);
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", enum_name(standing), percent);
  }
  return text;
}

std::string standing_sentence(const Recording& recording) {
  StandingSums sums;
  for (const Recording::Sample& sample : recording.samples) sums.add(sample.standing, sample.value);
  return standing_sentence(sums);
}

std::string_view unit(SampleEvent event) noexcept {
  return event == SampleEvent::wall || event == SampleEvent::cpu ? "nanoseconds" : "count";
}

std::string sentence(const CallAgreement& calls) {
  if (calls.calls == 0) return {};
  return fmt::format(
      "the runtime's own notes about calls confirm {} of {} native runs that end at managed code, and contradict {}; "
      "of {} callers in these notes, the walk has found {}",
      calls.agreed, calls.runs, calls.bounded - calls.agreed, calls.calls, calls.met);
}

std::string sentence(const RuntimeAnswers& answers) {
  switch (answers.by) {
    case RuntimeSource::automatic: return {};
    case RuntimeSource::contracts:
      return "the runtime's data contracts answer: their versions are known, and its data passes the checks";
    case RuntimeSource::debugging_library: break;
  }
  return "the runtime's debugging library answers" + (answers.why.empty() ? "" : ": " + answers.why);
}

std::vector<std::string> open_runs(const Stack& stack) {
  std::map<std::pair<RunPosition, OpenReason>, std::size_t> counts;
  for (const Run& run : stack.runs()) {
    if (run.end == RunEnd::open) ++counts[{run.position, run.why}];
  }
  std::vector<std::string> sentences;
  for (const auto& [what, count] : counts) {
    const auto& [position, why] = what;
    const std::string runs =
        count == 1 ? fmt::format("{} run", enum_name(position)) : fmt::format("{} {} runs", count, enum_name(position));
    sentences.push_back(fmt::format("{} open: {}", runs, sentence(why)));
  }
  return sentences;
}

std::string_view sentence_of_refusal(std::uint32_t refusal) noexcept {
  switch (refusal) {
    case kThreadDetached: return "the runtime has detached the thread";
    case kThreadSuspended: return "the thread was suspended already";
    default: return {};
  }
}

}  // namespace mixwalk
