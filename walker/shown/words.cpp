#include "walker/shown/words.h"

#include <algorithm>

#include <fmt/format.h>

#include "unmanaged/ascii_lower.h"
#include "walker/model/reached_rate.h"
#include "walker/suspended/refusal.h"

namespace mixwalk {

std::string_view key(FrameKind kind) noexcept {
  switch (kind) {
    case FrameKind::managed: return "managed";
    case FrameKind::native: return "native";
    case FrameKind::stub: return "stub";
    case FrameKind::gap: return "gap";
  }
  return "";
}

std::string_view key(Completeness completeness) noexcept {
  switch (completeness) {
    case Completeness::partial: return "partial";
    case Completeness::guessed: return "guessed";
    case Completeness::whole: return "whole";
  }
  return "partial";
}

std::string_view key(Trust trust) noexcept {
  switch (trust) {
    case Trust::context: return "context";
    case Trust::runtime: return "runtime";
    case Trust::unwind_info: return "unwind-info";
    case Trust::dynamic: return "dynamic";
    case Trust::leaf: return "leaf";
    case Trust::scan: return "scan";
    case Trust::frame_pointer: return "frame-pointer";
  }
  return "";
}

std::string_view key(SymbolKind kind) noexcept {
  switch (kind) {
    case SymbolKind::none: return "none";
    case SymbolKind::function_table: return "function-table";
    case SymbolKind::exported: return "export";
    case SymbolKind::coff: return "coff";
    case SymbolKind::dwarf: return "dwarf";
    case SymbolKind::pdb: return "pdb";
    case SymbolKind::import: return "import";
  }
  return "";
}

std::string_view key(CallCheck call) noexcept {
  switch (call) {
    case CallCheck::unchecked: return "unchecked";
    case CallCheck::verified: return "verified";
    case CallCheck::possible: return "possible";
    case CallCheck::no_call: return "no-call";
    case CallCheck::elsewhere: return "elsewhere";
  }
  return "";
}

std::string_view key(RunPosition position) noexcept {
  switch (position) {
    case RunPosition::leaf: return "leaf";
    case RunPosition::middle: return "middle";
    case RunPosition::root: return "root";
    case RunPosition::whole: return "whole";
  }
  return "";
}

std::string_view key(RunEnd end) noexcept {
  switch (end) {
    case RunEnd::closed:
    case RunEnd::closed_rsp: return "closed";
    case RunEnd::root: return "root";
    case RunEnd::open: return "open";
  }
  return "";
}

std::string_view key(OpenReason why) noexcept {
  switch (why) {
    case OpenReason::none: return "none";
    case OpenReason::unreadable_stack: return "unreadable-stack";
    case OpenReason::unreadable_unwind: return "unreadable-unwind";
    case OpenReason::bad_unwind: return "bad-unwind";
    case OpenReason::no_unwind: return "no-unwind";
    case OpenReason::stack_not_growing: return "stack-not-growing";
    case OpenReason::frame_limit: return "frame-limit";
    case OpenReason::passed_bound: return "passed-bound";
    case OpenReason::ended_at_root: return "ended-at-root";
    case OpenReason::wrong_function: return "wrong-function";
    case OpenReason::stack_cut: return "stack-cut";
    case OpenReason::no_call: return "no-call";
    case OpenReason::ended_early: return "ended-early";
    case OpenReason::too_slow: return "too-slow";
    case OpenReason::off_stack: return "off-stack";
    case OpenReason::return_replaced: return "return-replaced";
    case OpenReason::unwind_version_3: return "unwind-version-3";
  }
  return "";
}

std::string_view key(ProbeResult probe) noexcept {
  switch (probe) {
    case ProbeResult::none: return "none";
    case ProbeResult::passed: return "passed";
    case ProbeResult::failed: return "failed";
  }
  return "none";
}

std::string_view key(Engine engine) noexcept {
  switch (engine) {
    case Engine::snapshot: return "snapshot";
    case Engine::copy: return "copy";
    case Engine::automatic: return "auto";
  }
  return "";
}

std::string_view key(SampleEvent event) noexcept {
  switch (event) {
    case SampleEvent::dump: return "dump";
    case SampleEvent::wall: return "wall";
    case SampleEvent::cpu: return "cpu";
    case SampleEvent::exception: return "exception";
    case SampleEvent::allocation: return "allocation";
    case SampleEvent::class_load: return "class-load";
    case SampleEvent::module_load: return "module-load";
  }
  return "";
}

std::string_view key(Way way) noexcept {
  switch (way) {
    case Way::inside: return "inside";
    case Way::outside: return "outside";
    case Way::file: return "file";
  }
  return "";
}

std::string_view key(LockKind kind) noexcept {
  switch (kind) {
    case LockKind::monitor: return "monitor";
    case LockKind::critical_section: return "critical-section";
    case LockKind::srw_lock: return "srw-lock";
    case LockKind::threading_lock: return "threading-lock";
    case LockKind::mutex: return "mutex";
    case LockKind::send_message: return "send-message";
    case LockKind::com_call: return "com-call";
    case LockKind::local_call: return "local-call";
    case LockKind::thread_end: return "thread-end";
    case LockKind::pause: return "pause";
  }
  return "";
}

std::string_view sentence(LockKind kind) noexcept {
  switch (kind) {
    case LockKind::monitor: return "object";
    case LockKind::critical_section: return "critical section";
    case LockKind::srw_lock: return "slim reader/writer lock";
    case LockKind::threading_lock: return "System.Threading.Lock";
    case LockKind::mutex: return "mutex";
    case LockKind::send_message: return "the answer to a window message";
    case LockKind::com_call: return "the answer to a COM call";
    case LockKind::local_call: return "the answer to a local procedure call";
    case LockKind::thread_end: return "the end of a thread";
    case LockKind::pause: return "the pause of all managed code";
  }
  return "";
}

char letter(FrameKind kind) noexcept {
  switch (kind) {
    case FrameKind::managed: return 'M';
    case FrameKind::native: return 'N';
    case FrameKind::stub: return 'S';
    case FrameKind::gap: return 'G';
  }
  return 'W';
}

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

std::string_view unit(SampleEvent event) noexcept {
  return event == SampleEvent::wall || event == SampleEvent::cpu ? "nanoseconds" : "count";
}

std::string_view sentence(OpenReason why) noexcept {
  switch (why) {
    case OpenReason::none: return "no reason is known";
    case OpenReason::unreadable_stack: return "a saved register lies outside the copied stack";
    case OpenReason::unreadable_unwind: return "the unwind data is gone; was a module unloaded?";
    case OpenReason::bad_unwind: return "the unwind data contradicts itself";
    case OpenReason::no_unwind: return "the code has no unwind data";
    case OpenReason::stack_not_growing: return "the caller would not lie above its callee";
    case OpenReason::frame_limit: return "more frames than a stack can have";
    case OpenReason::passed_bound: return "the next managed frame was passed without being met";
    case OpenReason::ended_at_root: return "the thread's root came before the next managed frame";
    case OpenReason::wrong_function: return "the next managed frame was met in another function";
    case OpenReason::stack_cut:
      return "the stack was larger than the copy, or a page of it may not be read";
    case OpenReason::no_call: return "the word at the top of the stack is no certain return address";
    case OpenReason::ended_early: return "the stack ended in a frame that does not start a thread";
    case OpenReason::too_slow: return "the walk took too long";
    case OpenReason::off_stack: return "the thread does not stand on its own stack";
    case OpenReason::return_replaced: return "return address replaced by the runtime (GC)";
    case OpenReason::unwind_version_3: return "unwind information of version 3 (APX)";
  }
  return "";
}

std::string_view sentence(CallCheck call) noexcept {
  switch (call) {
    case CallCheck::no_call: return "after no call";
    case CallCheck::elsewhere: return "after a call of another function";
    case CallCheck::unchecked:
    case CallCheck::verified:
    case CallCheck::possible: return "";
  }
  return "";
}

std::string_view words_of(ClrStub stub) noexcept {
  switch (stub) {
    case ClrStub::pinvoke: return "P/Invoke";
    case ClrStub::reverse_pinvoke: return "callback";
    case ClrStub::com_out: return "COM out";
    case ClrStub::com_in: return "COM in";
    case ClrStub::delegate_invoke: return "delegate invoke";
    case ClrStub::other: return "";
  }
  return "";
}

std::string_view sentence_of_refusal(std::uint32_t refusal) noexcept {
  switch (refusal) {
    case kThreadDetached: return "the runtime has detached the thread";
    case kThreadSuspended: return "the thread was suspended already";
    default: return {};
  }
}

}  // namespace mixwalk
