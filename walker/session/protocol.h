#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "walker/model/percentiles.h"
#include "walker/model/recording.h"
#include "walker/model/snapshot.h"
#include "walker/suspended/deadline.h"

namespace mixwalk {

// The messages between mixwalk.dll (in the target) and mixwalk.exe, over one private pipe. Each is a frame of a 32-bit
// little-endian length and a protobuf message of one field, whose number is the kind of the message. Both ends treat
// what they read as hostile: decoding is bounded, throws std::bad_alloc at most, and rejects what it does not
// understand.
inline constexpr std::uint32_t kProtocolVersion = 7;

// A longer message than this is not one of ours. The largest real one is a thread's stack of kMaxFrames frames of at
// most 80 bytes each.
inline constexpr std::size_t kMaxMessageBytes = 8 << 20;
inline constexpr std::size_t kLengthBytes = 4;

// A recording's shortest and longest period.
inline constexpr std::uint64_t kMinPeriodNs = 100'000;
inline constexpr std::uint64_t kMaxPeriodNs = 60'000'000'000;
inline constexpr std::uint32_t kMaxBudget = 100'00;  // RecordRequest::budget: all of it

// DLL → exe, first.
struct Hello {
  std::uint32_t protocol = kProtocolVersion;
  Process process;
  Runtime runtime;
  std::uint32_t agent_thread = 0;  // the DLL's thread in the target, by the system's id
  bool operator==(const Hello&) const = default;
};

// exe → DLL, next: the memory of the ledger (walker/suspended/freeze_ledger.h), as a handle that is valid in the
// target. Without it nothing is frozen.
struct LedgerOffer {
  std::uint64_t section = 0;
  bool operator==(const LedgerOffer&) const = default;
};

// exe → DLL.
struct DumpRequest {
  Engine engine = Engine::snapshot;
  // How long a thread may be frozen before the supervisor resumes it, milliseconds.
  std::uint32_t deadline_ms = kDefaultDeadlineMs;
  ProbePolicy probe = ProbePolicy::risk;  // of Engine::snapshot
  // The canary: the thread with this id, or one whose name begins with this text. 0 and empty if a parked managed
  // thread is chosen.
  std::uint32_t canary_id = 0;
  std::string canary_prefix;
  // Only these; empty means all of the process.
  std::vector<std::uint32_t> thread_ids;
  // Each sample that DoStackSnapshot walked is sent a second time, directly after, walked from its copy.
  bool both_engines = false;
  bool at_once = false;  // all threads stand together, and are walked from their copies
  bool operator==(const DumpRequest&) const = default;
};
// Samples until StopRequest. `sampling.both_engines` and `sampling.at_once` have no meaning here.
struct RecordRequest {
  DumpRequest sampling;
  SampleEvent event = SampleEvent::wall;  // any but dump
  std::uint64_t period_ns = 10'000'000;   // wall, cpu: between two samples of a thread
  std::vector<std::string> thread_names;  // only threads whose names begin so, beside the ids
  // For exception, allocation, class_load: only events of this type, "Namespace.Type" or "Type". For module_load: only
  // those of the module with this file name. Is empty if all events.
  std::string type;
  std::uint64_t every = 1;  // allocation: the last one of so many is a sample
  // wall, cpu: how much recording may take from the target, in hundredths of a percent; 0 means no limit.
  std::uint32_t budget = 0;
  bool operator==(const RecordRequest&) const = default;
};
struct StopRequest {
  bool operator==(const StopRequest&) const = default;
};
struct DetachRequest {
  bool operator==(const DetachRequest&) const = default;
};

// DLL → exe, for a dump: each function before the first thread that has it; modules and assemblies in the order of the
// indices Frame::module and IlPlace::assembly; DumpDone is the last message.
struct FunctionName {
  std::uint64_t id = 0;
  std::string text;
  bool operator==(const FunctionName&) const = default;
};
inline constexpr std::size_t kMaxMoments = 1'000;  // far more than a dump of 100,000 threads takes
struct DumpDone {
  BreakerState breaker;
  std::vector<Moment> moments;  // of a dump at once
  bool operator==(const DumpDone&) const = default;
};

// What the recording has cost the target so far, and how the samples ended; times as in
// DurationHistogram.
struct RecordProgress {
  std::uint64_t samples = 0, whole = 0, guessed = 0;  // of all samples, by Completeness
  // How long threads were frozen, and how long the system took before that to stop them. 0 if nothing was frozen.
  Percentiles frozen, stopping;
  std::uint64_t interventions = 0;  // freezes that the supervisor ended
  // In a recording of events: how many events have become samples, were dropped, or happened on threads that were not
  // asked for (LedgerPage::events counts all).
  std::uint64_t events = 0;
  bool slowed = false;  // samples are taken more seldom than was asked for, to keep the budget
  bool operator==(const RecordProgress&) const = default;
};
// DLL → exe, for a recording: whole records of a .mixwalk file (docs/format.md), with native frames without names;
// RecordDone is the last message. A new file begins when the tables of the current one have become too large to be kept
// in the target.
struct RecordedBytes {
  bool new_file = false;
  std::string bytes;
  RecordProgress progress;
  bool operator==(const RecordedBytes&) const = default;
};
struct RecordDone {
  BreakerState breaker;
  bool operator==(const RecordDone&) const = default;
};

// DLL → exe, at any time instead of an answer: why the visit ends. UTF-8, one line, no full stop.
struct Problem {
  std::string text;
  bool operator==(const Problem&) const = default;
};

// DLL → exe, last: the HRESULT of the detach (0: the DLL is leaving).
struct Detached {
  std::uint32_t result = 0;
  bool operator==(const Detached&) const = default;
};

// DLL → exe, at any time and in place of an answer: the visit is over, and the target runs on.
struct VisitFailed {
  enum class Why : std::uint8_t {
    no_memory,  // the target has none left for it, or no handle or thread
    defect,     // of mixwalk.dll
  };
  Why why = Why::no_memory;
  bool operator==(const VisitFailed&) const = default;
};
// What encode(VisitFailed{why}) makes, without an allocation.
std::array<char, 8> encode_failed(VisitFailed::Why why) noexcept;

using Message =
    std::variant<Hello, DumpRequest, DetachRequest, FunctionName, Module, Thread, DumpDone,
                 Detached, RecordRequest, StopRequest, RecordedBytes, RecordDone, LedgerOffer, Problem,
                 VisitFailed, Assembly>;

// The message with its length in front, ready to be written.
std::string encode(const Message& message);

// `bytes`: one message without its length. Nothing where the bytes are not a whole, known message. Throws nothing but
// std::bad_alloc.
std::optional<Message> decode(std::string_view bytes);

// The length that kLengthBytes bytes announce; nothing where no message is that long.
std::optional<std::size_t> decode_length(std::string_view bytes) noexcept;

}  // namespace mixwalk
