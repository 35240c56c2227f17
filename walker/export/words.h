#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "symbols/clr_stub.h"
#include "walker/model/recording.h"

namespace mixwalk {

// The words of the formats for the model's enumerations. Keys never change: programs read them.
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

// The kind as one letter, as texts and pages mark frames: M, N, S and G.
char letter(FrameKind kind) noexcept;
// The runtime and its version for a person: ".NET 10.0.12", "no .NET runtime". A name from a file may contain anything.
std::string runtime_text(const Runtime& runtime);

// Samples per second of each thread, for a person: "6.3" and "100".
struct RateWords {
  std::string reached, asked;
};
RateWords rate_words(double reached_hz, std::uint64_t period_ns);
// "6.3 samples a second of each thread, 100 asked for". Empty where it is not known what was reached (reached_hz()).
std::string rate_sentence(const Recording& recording);

// What Sample::value counts: "nanoseconds" or "count".
std::string_view unit(SampleEvent event) noexcept;

// The same reason for a person: "the stack was larger than the copy".
std::string_view sentence(OpenReason why) noexcept;
// A lock that is no managed object, for a person: "critical section".
std::string_view sentence(LockKind kind) noexcept;
// What is wrong with a frame whose call is; else empty.
std::string_view sentence(CallCheck call) noexcept;
// What a stub does: "P/Invoke". Empty for other stubs.
std::string_view words_of(ClrStub stub) noexcept;
// Why DoStackSnapshot was not called, as a sentence for the user; empty where it was called, even where it refused.
std::string_view sentence_of_refusal(std::uint32_t refusal) noexcept;

}  // namespace mixwalk
