#include "walker/merge/stub_callees.h"

#include <optional>

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

}  // namespace mixwalk
