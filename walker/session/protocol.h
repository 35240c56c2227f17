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

// The messages between mixwalk.dll (in the target) and mixwalk.exe, over one private pipe. Each is a 32-bit
// little-endian length, followed by a protobuf message of one field. The number of this field is the kind of the
// message. Both ends treat what they read as hostile: decoding is bounded, throws nothing except std::bad_alloc, and
// rejects what it does not understand.
inline constexpr std::uint32_t kProtocolVersion = 10;

// The largest length of a message. The largest real message is a thread's stack of kMaxFrames frames of at most 80
// bytes each, half of which are managed and have inlined a stub.
inline constexpr std::size_t kMaxMessageBytes = 8 << 20;
inline constexpr std::size_t kLengthBytes = 4;

// A recording's shortest and longest period.
inline constexpr std::uint64_t kMinPeriodNs = 100'000;
inline constexpr std::uint64_t kMaxPeriodNs = 60'000'000'000;
inline constexpr std::uint32_t kMaxBudget = 100'00;  // RecordRequest::budget: the whole capacity of the target

// The first message, from the DLL to mixwalk.exe.
struct Hello {
  std::uint32_t protocol = kProtocolVersion;
  Process process;
  Runtime runtime;
  std::uint32_t agent_thread = 0;  // the system's id of the DLL's thread in the target
  bool operator==(const Hello&) const = default;
};

// The next message, from mixwalk.exe to the DLL: the memory of the ledger (walker/suspended/freeze_ledger.h), as a
// handle that is valid in the target. Without the ledger nothing is frozen.
struct LedgerOffer {
  std::uint64_t section = 0;
  bool operator==(const LedgerOffer&) const = default;
};

// From mixwalk.exe to the DLL.
struct DumpRequest {
  Engine engine = Engine::snapshot;
  // How long a thread may be frozen before the supervisor resumes it, in milliseconds.
  std::uint32_t deadline_ms = kDefaultDeadlineMs;
  ProbePolicy probe = ProbePolicy::risk;  // for Engine::snapshot
  // The canary: the thread with this id, or one whose name begins with this text. If they are 0 and empty, the DLL
  // chooses a parked managed thread.
  std::uint32_t canary_id = 0;
  std::string canary_prefix;
  // The threads to be sampled; empty for all threads of the process.
  std::vector<std::uint32_t> thread_ids;
  bool at_once = false;  // all threads are frozen together, and are walked from their copies
  // How long the thread that ends freezes may need to begin, in milliseconds. Nothing is frozen before that.
  std::uint32_t start_ms = kDefaultStartMs;
  bool operator==(const DumpRequest&) const = default;
};
// Samples until StopRequest. `sampling.at_once` has no meaning here.
struct RecordRequest {
  DumpRequest sampling;
  SampleEvent event = SampleEvent::wall;  // any event except dump
  std::uint64_t period_ns = 10'000'000;   // wall, cpu: the time between two samples of a thread
  std::vector<std::string> thread_names;  // besides the ids: only threads whose names begin with one of these
  // For exception, allocation, class_load: only events of this type, "Namespace.Type" or "Type". For module_load: only
  // events of the module with this file name. Empty for all events.
  std::string type;
  std::uint64_t every = 1;  // allocation: of so many events, only the last one is a sample
  // wall, cpu: how much of the target's capacity recording may take, in hundredths of a percent; 0 if there is no
  // limit.
  std::uint32_t budget = 0;
  bool operator==(const RecordRequest&) const = default;
};
struct StopRequest {
  bool operator==(const StopRequest&) const = default;
};
struct DetachRequest {
  bool operator==(const DetachRequest&) const = default;
};

// From the DLL to mixwalk.exe, for a dump. Each function is sent before the first thread that contains it. Modules and
// assemblies are sent in the order of the indices Frame::module and IlPlace::assembly. DumpDone is the last message.
struct FunctionName {
  std::uint64_t id = 0;
  std::string text;
  bool operator==(const FunctionName&) const = default;
};
inline constexpr std::size_t kMaxMoments = 1'000;  // far more than a dump of 100,000 threads needs
struct DumpDone {
  BreakerState breaker;
  std::vector<Moment> moments;  // the moments of a dump at once
  bool operator==(const DumpDone&) const = default;
};

// The cost of the recording for the target so far, and how the samples ended. Times are rounded as in
// DurationHistogram.
struct RecordProgress {
  std::uint64_t samples = 0, whole = 0, guessed = 0;  // of all samples, by Completeness
  // frozen: how long threads were frozen. stopping: how long the system took before that to stop them. 0 if nothing was
  // frozen.
  Percentiles frozen, stopping;
  std::uint64_t interventions = 0;  // freezes that the supervisor ended
  // In a recording of events: how many events have become samples, were dropped, or happened on threads that were not
  // asked for. (LedgerPage::events counts all of them.)
  std::uint64_t events = 0;
  bool slowed = false;  // to keep the budget, samples are taken less often than was asked for
  bool operator==(const RecordProgress&) const = default;
};
// From the DLL to mixwalk.exe, for a recording: whole records of a .mixwalk file (docs/format.md). Native frames in
// these records have no names. RecordDone is the last message. A new file begins when the tables of the current one
// have become too large to be kept in the target.
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

// From the DLL to mixwalk.exe, at any time instead of an answer: why the visit ends. UTF-8, one line, no full stop.
struct Problem {
  std::string text;
  bool operator==(const Problem&) const = default;
};

// The last message, from the DLL to mixwalk.exe: the HRESULT of the detach. It is 0 if the DLL leaves the process.
struct Detached {
  std::uint32_t result = 0;
  bool operator==(const Detached&) const = default;
};

// From the DLL to mixwalk.exe, at any time instead of an answer: the visit is over, and the target continues to run.
struct VisitFailed {
  enum class Why : std::uint8_t {
    no_memory,  // the target has no memory, handle or thread left for the visit
    defect,     // a defect of mixwalk.dll
  };
  Why why = Why::no_memory;
  bool operator==(const VisitFailed&) const = default;
};
// Makes the same bytes as encode(VisitFailed{why}), without an allocation.
std::array<char, 8> encode_failed(VisitFailed::Why why) noexcept;

using Message =
    std::variant<Hello, DumpRequest, DetachRequest, FunctionName, Module, Thread, DumpDone,
                 Detached, RecordRequest, StopRequest, RecordedBytes, RecordDone, LedgerOffer, Problem,
                 VisitFailed, Assembly>;

// The message with its length in front, ready to be sent.
std::string encode(const Message& message);

// `bytes`: one message without its length. Returns nothing if the bytes are not a whole, known message. Throws nothing
// except std::bad_alloc.
std::optional<Message> decode(std::string_view bytes);

// The length that kLengthBytes bytes announce. Returns nothing if no message has that length.
std::optional<std::size_t> decode_length(std::string_view bytes) noexcept;

}  // namespace mixwalk
