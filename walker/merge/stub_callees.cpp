#include "walker/merge/stub_callees.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "symbols/clr_stub.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kWord = 8;
// The frame of a stub contains the converted arguments. For the largest structures they take some KiB.
constexpr std::uint64_t kMaxFrameBytes = 64 << 10;

// Bits that the runtime sets in an InlinedCallFrame's word for the method while it handles an exception. (frames.h,
// InlinedCallFrameMarker.)
constexpr std::uint64_t kMarks = 7;

// Calls `visit` for each InlinedCallFrame of this call in the frame, with the two words before its Rsp. Returns false
// if the frame cannot be read.
template <class Visit>
bool for_each_call(const StackFrame& frame, std::uint64_t end, const StackCopy& copy, Visit visit) noexcept {
  const std::uint64_t begin = frame.stack_pointer;
  if (end - begin > kMaxFrameBytes) return false;
  std::uint64_t third = 0, second = 0, first = 0;  // the three words before `word`
  for (std::uint64_t at = begin; at + kWord <= end; at += kWord) {
    const auto word = copy.word(at);
    if (!word) return false;
    if (*word == frame.address && first >= begin && first < at - kWord) visit(third & ~kMarks, second & ~kMarks);
    third = second;
    second = first;
    first = *word;
  }
  return true;
}

// Returns 0 if there is none.
//
// Folklore: a stub that converts a string in a buffer on its stack moves its Rsp after the prologue has stored the Rsp
// of calls. So the stored word may be anywhere in the stub's frame. The buffer is memory that earlier calls used,
// perhaps of the same stub for another method. So if more than one record is found, all must be of the same method.
// (Test: StubCallees; the P/Invokes with strings in ladder_test.)
std::uint64_t callee_of(const StackFrame& stub, std::uint64_t end, const StackCopy& copy) noexcept {
  std::uint64_t callee = 0;
  bool same = true;
  const bool read = for_each_call(stub, end, copy, [&](std::uint64_t, std::uint64_t method) {
    same = same && (callee == 0 || method == 0 || method == callee);
    if (method != 0) callee = method;
  });
  return read && same ? callee : 0;
}

bool is_native(const Frame& frame) noexcept { return frame.kind == FrameKind::native; }

// Between the store of the return address and the call, the code makes the thread preemptive. Between the method and
// the lea, it stores the method.
constexpr std::size_t kCodeBytes = 128, kMethodToLea = 24, kLeaBytes = 7;
using CodeBytes = std::array<std::byte, kCodeBytes>;

// The code in front of a return address.
std::optional<CodeBytes> code_before(std::uint64_t return_address, const MemoryReader& code) noexcept {
  CodeBytes bytes;
  if (return_address < kCodeBytes || !code.read(return_address - kCodeBytes, bytes.data(), kCodeBytes)) return {};
  return bytes;
}

// Whether the code in front of a return address stores this method, and then the return address:
//   mov reg, METHOD; mov [rbp-0x60], reg; lea reg, [rip+to the return address]; mov [rbp-0x50], reg; …; call
// Of a method below 4 GiB, the code has only the lower half. (InsertPInvokeCallProlog in the JIT's lower.cpp; .NET 8 to
// 10.)
bool stores_callee(const CodeBytes& bytes, std::uint64_t method) noexcept {
  constexpr std::uint64_t kShort = 1ull << 32;
  const auto at = [&](std::size_t i) { return std::to_integer<unsigned>(bytes[i]); };
  std::array<std::byte, sizeof method> wanted;
  std::memcpy(wanted.data(), &method, sizeof method);
  const auto immediate = std::span(wanted).first(method < kShort ? sizeof method / 2 : sizeof method);
  for (std::size_t lea = kMethodToLea; lea + kLeaBytes <= kCodeBytes; ++lea) {
    const bool is_lea = (at(lea) & 0xFB) == 0x48 && at(lea + 1) == 0x8D && (at(lea + 2) & 0xC7) == 0x05;
    std::int32_t to = 0;
    std::memcpy(&to, &bytes[lea + 3], sizeof to);
    if (!is_lea || to != static_cast<std::int32_t>(kCodeBytes - lea - kLeaBytes)) continue;
    const auto before = std::span(bytes).subspan(lea - kMethodToLea, kMethodToLea);
    return std::search(before.begin(), before.end(), immediate.begin(), immediate.end()) != before.end();
  }
  return false;
}

// The same for a method that has inlined the stub. In .NET 8, a word for stubs lies between the method and the Rsp.
std::uint64_t inlined_callee_of(const StackFrame& frame, std::uint64_t end, const StackCopy& copy,
                                const MemoryReader& code) noexcept {
  std::uint64_t callee = 0;
  std::optional<CodeBytes> before;
  bool read = false;
  for_each_call(frame, end, copy, [&](std::uint64_t third, std::uint64_t second) {
    if (!std::exchange(read, true)) before = code_before(frame.address, code);
    for (const std::uint64_t method : {second, third}) {
      if (callee == 0 && method != 0 && before && stores_callee(*before, method)) callee = method;
    }
  });
  return callee;
}

}  // namespace

void note_callees(Stack& stack, const StackCopy& copy, const MemoryReader& code) noexcept {
  for (std::size_t i = 1; i + 1 < stack.frames.size(); ++i) {
    StackFrame& frame = stack.frames[i];
    const bool calls_out = (frame.kind == FrameKind::stub || frame.kind == FrameKind::managed) && frame.function != 0 &&
                           frame.address_kind == AddressKind::return_address &&
                           is_native(stack.frames[i - 1]);
    if (!calls_out) continue;
    const std::uint64_t end = stack.frames[i + 1].stack_pointer;
    const bool stub = frame.kind == FrameKind::stub;
    frame.callee = stub ? callee_of(frame, end, copy) : inlined_callee_of(frame, end, copy, code);
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

// The runtime's own functions for its library (QCalls, such as Monitor_Wait in .NET 9 and 10) are P/Invokes of that
// library, and the JIT may inline their stubs as well. Shown, such a frame would look like a call of native code from
// the program, and a thread in a wait of .NET like one that is stuck there. (By the library's declarations; no such
// dump was seen.) Test: InlinedStubs.
void show_inlined_stubs(Stack& stack) {
  constexpr std::string_view kOfRuntime = "QCall!";
  for (StackFrame& frame : stack.frames) {
    if (frame.kind == FrameKind::managed && frame.target.starts_with(kOfRuntime)) frame.target.clear();
  }
  const auto calls_out = [](const Frame& frame) {
    return frame.kind == FrameKind::managed && !frame.target.empty();
  };
  if (std::ranges::none_of(stack.frames, calls_out)) return;
  std::vector<StackFrame> frames;
  frames.reserve(stack.frames.size() + 1);
  for (StackFrame& frame : stack.frames) {
    if (calls_out(frame)) {
      frames.emplace_back(Frame{.kind = FrameKind::stub,
                                .trust = frame.trust,
                                .address_kind = frame.address_kind,
                                .inline_depth = 1,
                                .address = frame.address,
                                .module = frame.module,
                                .name = std::string(kPInvokeStub),
                                .target = std::exchange(frame.target, {})},
                          frame.stack_pointer);
    }
    frames.push_back(std::move(frame));
  }
  stack.frames = std::move(frames);
}

}  // namespace mixwalk
