#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "unmanaged/enum_texts.h"
#include "walker/base/count_words.h"
#include "walker/hang/findings.h"

namespace mixwalk {

// The texts of findings. The target's names in them are clipped, and otherwise unchanged.

template <>
inline constexpr EnumTexts<WaitState::calls> kEnumNames<WaitState>{"unknown", "runs",    "idle", "outside",
                                                                   "signal",  "blocked", "calls"};
template <>
inline constexpr EnumTexts<Verdict::gone> kEnumNames<Verdict>{"once",     "stuck", "spinning", "waiting", "idle",
                                                              "returned", "moved", "unclear",  "new",     "gone"};
template <>
inline constexpr EnumTexts<FindingKind::unclear_task> kEnumNames<FindingKind>{
    "deadlock",    "chain",    "class-constructor", "starved-pool",   "finalizer",        "exit",
    "common-call", "spinning", "stuck",             "contended",      "crash",            "context-deadlock",
    "async-cycle", "process-output", "unclear-task"};
template <>
inline constexpr EnumTexts<Severity::note> kEnumNames<Severity>{"crash", "deadlock", "stuck", "note"};

// How many threads a finding shows one by one. The others are in `behind`.
inline constexpr std::size_t kShownThreads = 5;

// "thread 0x2c "worker"". `begin`: "Thread" at the beginning of a sentence.
std::string thread_words(const Thread& thread, std::string_view begin = "thread");
// "monitor", "critical section", "loader lock".
std::string_view words_of(const Lock& lock) noexcept;
// "the monitor 0x1f40 (System.Object)".
std::string lock_words(const Lock& lock);
// Why the known holders of a semaphore may not be all: "It is not known how many can enter …".
std::string open_semaphore_words(const Lock& semaphore);
// What a thread does, and for how long: "waits in native code: orders.dll!submit", "ran for 9.8 s of 10 s".
std::string state_words(const ThreadHistory& thread);
// "3 more threads wait behind them.", for threads that the title does not count.
std::string behind_words(std::size_t count);
// "1 of these 3 threads is not listed below.", for threads that the title counts.
std::string unlisted_words(std::size_t unlisted, std::size_t all);
// "It has been so for at least 20 s, and in 3 dumps." Empty if there is only one dump.
std::string duration_words(std::span<const ThreadHistory> threads, const Finding& finding);
// "20 s", "850 ms", "2 min 5 s".
std::string time_words(std::uint64_t milliseconds);
// "stuck", "back at the same place": words for a list of threads.
std::string_view verdict_words(Verdict verdict) noexcept;
// "blocked", "waiting for a signal".
std::string_view wait_state_words(WaitState state) noexcept;

}  // namespace mixwalk
