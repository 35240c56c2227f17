#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/clr_stub.h"
#include "unmanaged/enum_texts.h"
#include "walker/model/recording.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// The names of the model's enumerators in formats.
template <>
inline constexpr EnumTexts<FrameKind::gap> kEnumNames<FrameKind>{"managed", "native", "stub", "gap"};
template <>
inline constexpr EnumTexts<kLastTrust> kEnumNames<Trust>{"context", "runtime", "unwind-info",  "dynamic",
                                                         "leaf",    "scan",    "frame-pointer"};
template <>
inline constexpr EnumTexts<Completeness::whole> kEnumNames<Completeness>{"partial", "guessed", "whole"};
template <>
inline constexpr EnumTexts<SymbolKind::import> kEnumNames<SymbolKind>{"none",  "function-table", "export", "coff",
                                                                      "dwarf", "pdb",            "import"};
template <>
inline constexpr EnumTexts<CallCheck::elsewhere> kEnumNames<CallCheck>{"unchecked", "verified", "possible", "no-call",
                                                                       "elsewhere"};
template <>
inline constexpr EnumTexts<RunPosition::whole> kEnumNames<RunPosition>{"leaf", "middle", "root", "whole"};
template <>
inline constexpr EnumTexts<RunEnd::open> kEnumNames<RunEnd>{"closed", "closed", "root", "open"};
template <>
inline constexpr EnumTexts<kLastOpenReason> kEnumNames<OpenReason>{
    "none",         "unreadable-stack", "unreadable-unwind", "bad-unwind",      "no-unwind",       "stack-not-growing",
    "frame-limit",  "passed-bound",     "ended-at-root",     "wrong-function",  "stack-cut",       "no-call",
    "ended-early",  "too-slow",         "off-stack",         "return-replaced", "unwind-version-3",
    "unwind-callback"};
template <>
inline constexpr EnumTexts<ProbeResult::failed> kEnumNames<ProbeResult>{"none", "passed", "failed"};
template <>
inline constexpr EnumTexts<Engine::automatic> kEnumNames<Engine>{"snapshot", "copy", "auto"};
template <>
inline constexpr EnumTexts<SampleEvent::module_load> kEnumNames<SampleEvent>{
    "dump", "wall", "cpu", "exception", "allocation", "class-load", "module-load"};
template <>
inline constexpr EnumTexts<kLastStanding> kEnumNames<Standing>{"unknown", "waits", "idle", "runs"};
template <>
inline constexpr EnumTexts<CaptureMethod::file> kEnumNames<CaptureMethod>{"inside", "outside", "file"};
template <>
inline constexpr EnumTexts<RuntimeSource::debugging_library> kEnumNames<RuntimeSource>{"none", "contracts",
                                                                                       "debugging-library"};
template <>
inline constexpr EnumTexts<kLastCrashAccess> kEnumNames<CrashAccess>{"none", "read", "write", "execute"};
template <>
inline constexpr EnumTexts<kLastTaskKind> kEnumNames<TaskKind>{
    "other",   "async-method", "delegate", "completion-source", "delay",       "semaphore",
    "channel", "when-all",     "when-any", "io",                "value-source"};
template <>
inline constexpr EnumTexts<kLastTaskStatus> kEnumNames<TaskStatus>{"waiting", "queued",  "running",
                                                                   "done",    "faulted", "cancelled"};
template <>
inline constexpr EnumTexts<kLastLockKind> kEnumNames<LockKind>{
    "monitor",      "critical-section", "srw-lock",   "threading-lock", "mutex",
    "send-message", "com-call",         "local-call", "thread-end",     "pause",
    "semaphore",    "callback"};

// The kind as one letter, the mark of frames in texts and pages: M, N, S and G.
char letter(FrameKind kind) noexcept;
// The runtime and its version for a person: ".NET 10.0.12", "no .NET runtime". A name from a file may contain anything.
std::string runtime_text(const Runtime& runtime);

// What a dump from outside did with mixwalk.dll. An earlier look may have left it in the process, which cannot unload
// it.
std::string_view outside_sentence(const Snapshot& snapshot);

// How far the walk and the runtime's own notes agree, for -v: "the runtime's own notes about calls confirm 51 of 52 …".
// Empty if there are no such notes.
std::string sentence(const CallAgreement& calls);

// What answers about the runtime, and why. Empty if nothing does.
std::string sentence(const RuntimeAnswers& answers);

// Samples per second of each thread, for a person: "6.3" and "100".
struct RateWords {
  std::string reached, asked;
};
RateWords rate_words(double reached_hz, std::uint64_t period_ns);
// "6.3 samples a second of each thread, 100 asked for". Empty if the reached rate is not known (reached_hz()).
std::string rate_sentence(const Recording& recording);

// "idle 71 %, waits 12 %, runs 17 %": shares of the time, or of the samples. Standings that no sample has are left out.
// Empty if nothing is known.
std::string standing_sentence(const StandingSums& sums);
std::string standing_sentence(const Recording& recording);

// What Sample::value counts: "nanoseconds" or "count".
std::string_view unit(SampleEvent event) noexcept;

// The same reason for a person: "the stack was larger than the copy".
std::string_view sentence(OpenReason why) noexcept;
// The kind of a native lock, for a person: "critical section".
std::string_view sentence(LockKind kind) noexcept;
// The problem of a frame that is marked because of its call, or an empty text.
std::string_view sentence(CallCheck call) noexcept;
// The kind of call that a stub makes: "P/Invoke". Empty for other stubs.
std::string_view words_of(ClrStub stub) noexcept;
// The reasons why a stack is not whole: "leaf run open: the walk took too long", "2 middle runs open: …". Each reason
// is given once, because a deep stack may have thousands of runs that are open for the same reason.
std::vector<std::string> open_runs(const Stack& stack);
// Why DoStackSnapshot was not called, as a sentence for the user. Empty if it was called, even if it refused.
std::string_view sentence_of_refusal(std::uint32_t refusal) noexcept;

}  // namespace mixwalk
