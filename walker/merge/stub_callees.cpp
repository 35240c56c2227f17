#include "walker/merge/stub_callees.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace mixwalk {
namespace {

constexpr std::uint64_t kWord = 8;
// The frame of a stub contains the converted arguments. For the largest structures they take some KiB.
constexpr std::uint64_t kMaxFrameBytes = 64 << 10;

// Returns 0 if there is none.
//
// Folklore: a stub that converts a string in a buffer on its stack moves its Rsp after the prologue has stored the Rsp
// of calls. So the stored word may be anywhere in the stub's frame. The buffer is memory that earlier calls used,
// perhaps of the same stub for another method. So if more than one record is found, all must be of the same method.
// (Test: StubCallees; the P/Invokes with strings in ladder_test.)
std::uint64_t callee_of(const StackFrame& stub, std::uint64_t end, const StackCopy& copy) noexcept {
  const std::uint64_t begin = stub.stack_pointer;
  if (end - begin > kMaxFrameBytes) return 0;
  std::uint64_t callee = 0;
  std::uint64_t second = 0, first = 0;  // the two words before `word`
  for (std::uint64_t at = begin; at + kWord <= end; at += kWord) {
    const auto word = copy.word(at);
    if (!word) return 0;
    if (*word == stub.address && first >= begin && first < at - kWord && second != 0) {
      if (callee != 0 && callee != second) return 0;
      callee = second;
    }
    second = first;
    first = *word;
  }
  return callee;
}

bool is_native(const Frame& frame) noexcept { return frame.kind == FrameKind::native; }

}  // namespace

void note_callees(Stack& stack, const StackCopy& copy) noexcept {
  for (std::size_t i = 1; i + 1 < stack.frames.size(); ++i) {
    StackFrame& frame = stack.frames[i];
    const bool calls_out = frame.kind == FrameKind::stub && frame.function != 0 &&
                           frame.address_kind == AddressKind::return_address &&
                           is_native(stack.frames[i - 1]);
    if (calls_out) frame.callee = callee_of(frame, stack.frames[i + 1].stack_pointer, copy);
  }
}

CallAgreement note_callees(Stack& stack, std::span<const RuntimeCall> calls) {
  CallAgreement agreement{.calls = calls.size()};
  std::vector<StackFrame>& frames = stack.frames;
  // For each frame the run that it belongs to, or that ends at it.
  constexpr std::size_t kNoRun = ~std::size_t{0};
  std::vector<std::size_t> run_of(frames.size(), kNoRun);
  for (const Run& run : stack.runs()) {
    if (run.end != RunEnd::closed) continue;
    std::fill_n(run_of.begin() + run.first_frame, run.frame_count + 1, agreement.runs++);
  }
  enum class Word : std::uint8_t { none, same, other };
  std::vector<Word> words(agreement.runs, Word::none);
  const auto begins_by = [&](std::size_t at, std::uint64_t rsp) {
    return frames[at].kind == FrameKind::gap || frames[at].stack_pointer <= rsp;
  };
  std::size_t at = 0;
  for (const RuntimeCall& call : calls) {
    const std::uint64_t rsp = call.caller.registers.rsp();
    while (at + 1 < frames.size() && begins_by(at + 1, rsp)) ++at;
    // Behind a gap, the frame at which the walk went on may be above this Rsp.
    while (at > 0 && frames[at].kind == FrameKind::gap) --at;
    if (frames.empty()) break;
    if (frames[at].function != call.function || frames[at].stack_pointer > rsp) {
      if (run_of[at] != kNoRun) words[run_of[at]] = Word::other;
      continue;
    }
    // A Frame that names no method says nothing about the one that the stack names.
    if (frames[at].kind == FrameKind::stub && call.callee != 0) frames[at].callee = call.callee;
    if (frames[at].trust == Trust::runtime) continue;
    ++agreement.met;
    if (run_of[at] != kNoRun && words[run_of[at]] == Word::none) words[run_of[at]] = Word::same;
  }
  agreement.bounded = agreement.runs - static_cast<std::size_t>(std::ranges::count(words, Word::none));
  agreement.agreed = static_cast<std::size_t>(std::ranges::count(words, Word::same));
  return agreement;
}

}  // namespace mixwalk
