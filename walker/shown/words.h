#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "symbols/clr_stub.h"
#include "walker/model/recording.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// The words of the formats for the model's enumerations. Keys never change, because programs read them.
std::string_view key(FrameKind kind) noexcept;
std::string_view key(Trust trust) noexcept;
std::string_view key(Completeness completeness) noexcept;
std::string_view key(SymbolKind kind) noexcept;
std::string_view key(CallCheck call) noexcept;
std::string_view key(RunPosition position) noexcept;
std::string_view key(RunEnd end) noexcept;
std::string_view key(OpenReason why) noexcept;
std::string_view key(Engine engine) noexcept;
std::string_view key(ProbeResult probe) noexcept;
std::string_view key(SampleEvent event) noexcept;
std::string_view key(Way way) noexcept;
std::string_view key(LockKind kind) noexcept;

// The kind as one letter, the mark of frames in texts and pages: M, N, S and G.
char letter(FrameKind kind) noexcept;
// The runtime and its version for a person: ".NET 10.0.12", "no .NET runtime". A name from a file may contain anything.
std::string runtime_text(const Runtime& runtime);

// What a dump from outside did with mixwalk.dll. An earlier look may have left it in the process, which cannot unload
// it.
std::string_view outside_sentence(const Snapshot& snapshot);

// Samples per second of each thread, for a person: "6.3" and "100".
struct RateWords {
  std::string reached, asked;
};
RateWords rate_words(double reached_hz, std::uint64_t period_ns);
// "6.3 samples a second of each thread, 100 asked for". Empty if the reached rate is not known (reached_hz()).
std::string rate_sentence(const Recording& recording);

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
// Why DoStackSnapshot was not called, as a sentence for the user. Empty if it was called, even if it refused.
std::string_view sentence_of_refusal(std::uint32_t refusal) noexcept;

}  // namespace mixwalk
