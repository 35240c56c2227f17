#include "walker/guessing_step.h"

#include <algorithm>
#include <span>

namespace mixwalk {
namespace {

// How far before the instruction its function may begin. Engines that compile scripts make long functions.
constexpr std::uint64_t kMaxFunctionBytes = 1 << 16;

// Of frames without unwind data, one after another, that have no frame pointer either.
constexpr int kMaxDepth = 8;

// How large the frame of a managed method may be that calls out: some keep buffers there.
constexpr std::uint64_t kMaxFrameBytes = 1 << 16;

constexpr std::uint64_t kWord = sizeof(std::uint64_t);

// The addresses that a program can have. (Windows: 64 KiB to 128 TiB.)
constexpr bool can_be_address(std::uint64_t word) noexcept { return word - 0x1'0000 < 0x7FFF'FFFE'0000; }

// No register but Rsp and Rbp is known.
Cursor caller_with(std::uint64_t rip, std::uint64_t rsp, std::uint64_t rbp) noexcept {
  Cursor caller{.kind = AddressKind::return_address, .guessed = true};
  caller.registers.rip = rip;
  caller.registers[Register::rsp] = rsp;
  caller.registers[Register::rbp] = rbp;
  return caller;
}

bool starts_with(std::span<const std::uint8_t> bytes, std::initializer_list<std::uint8_t> wanted) noexcept {
  return bytes.size() >= wanted.size() && std::equal(wanted.begin(), wanted.end(), bytes.begin());
}

}  // namespace

void GuessingStep::set_goal(const WalkGoal& goal) noexcept {
  goal_ = goal;
  searched_ = false;
  count_ = next_ = 0;
}

StepResult GuessingStep::step(Cursor& frame, LeafRule leaf) noexcept {
  const Cursor before = frame;
  if (next_ < count_) {
    const GuessScratch::Guess& guess = view_.scratch.way[next_];
    if (guess.rip == frame.registers.rip && guess.rsp == frame.registers.rsp()) {
      ++next_;
      frame = caller_with(guess.caller_rip, guess.caller_rsp, guess.caller_rbp);
      return {.trust = guess.trust, .proven = false};
    }
  }
  const StepResult stepped = step_.step(frame, leaf);
  const bool wanted = lacks_caller(before, stepped) || (stepped.fault == StepFault::none && stepped.trust == Trust::leaf &&
                                    !stepped.proven && is_ambiguous(before, frame));
  if (!wanted || searched_) return stepped;
  searched_ = true;
  if (!find_way(before)) return stepped;
  frame = before;
  return step(frame, leaf);
}

// Whether the word at Rsp, which a call through a register has left there, may be anything: neither the code
// that the thread stands in nor the code that the word leads to has unwind data, and such code moves Rsp.
bool GuessingStep::is_ambiguous(const Cursor& frame, const Cursor& leaf_caller) noexcept {
  if (view_.modules.find(frame.registers.rip) != nullptr || starts_or_returns(frame)) return false;
  Cursor caller = leaf_caller;
  return lacks_caller(leaf_caller, step_.step(caller, leaf_rule(caller.kind)));
}

bool GuessingStep::lacks_caller(const Cursor& frame, const StepResult& stepped) noexcept {
  return stepped.fault != StepFault::none && stepped.no_unwind_data && view_.leaf.is_code(frame.code().lookup());
}

bool GuessingStep::find_way(const Cursor& frame) noexcept {
  first_word_ = frame.registers.rsp();
  view_.scratch.tried.reset();
  if (const auto caller = by_frame_pointer(frame)) {
    if (add(frame, *caller, Trust::frame_pointer) && leads_to_goal(*caller, 0)) return true;
    count_ = 0;
  }
  return scan(frame, 0);
}

// A word that has led nowhere leads nowhere from another frame either.
bool GuessingStep::scan(const Cursor& frame, int depth) noexcept {
  if (depth == kMaxDepth) return false;
  const std::size_t before = count_;
  for (std::uint64_t slot = frame.registers.rsp(); (slot - first_word_) / kWord < GuessScratch::kMaxWords; slot += kWord) {
    if (steps_left_ == 0 || !stack_word(slot)) return false;
    const std::size_t index = (slot - first_word_) / kWord;
    if (view_.scratch.tried[index]) continue;
    view_.scratch.tried[index] = true;
    // Code that has no frame pointer may keep its caller's Rbp.
    const std::uint64_t rbp = frame.registers[Register::rbp];
    const auto caller = caller_at(frame, slot, rbp > slot ? rbp : 0);
    if (!caller) continue;
    if (add(frame, *caller, Trust::scan) && leads_to_goal(*caller, depth + 1)) return true;
    count_ = before;
  }
  return false;
}

bool GuessingStep::leads_to_goal(Cursor frame, int depth) noexcept {
  const bool bounded = goal_.bound.rsp != RunBound::kNone;
  bool managed_met = false;
  Cursor last = frame;
  while (steps_left_ != 0) {
    --steps_left_;
    if (bounded && frame.registers.rsp() >= goal_.bound.rsp) return meets_bound(frame, last);
    if (is_root(frame)) return !bounded;
    const std::uint64_t function = managed_met ? 0 : function_at(frame);
    // The runtime's walk saw no managed frame before that one, which may have moved its Rsp.
    if (bounded && function != 0 && function != goal_.function) return false;
    last = frame;
    const StepResult stepped = step_.step(frame, leaf_rule(frame.kind));
    if (stepped.fault == StepFault::none) {
      if (function == 0) continue;
      if (!bounded && !has_called_out(last, frame.registers.rsp())) return false;
      managed_met = true;
      continue;
    }
    if (!lacks_caller(frame, stepped)) return false;
    const auto caller = by_frame_pointer(frame);
    if (!caller) return scan(frame, depth);
    if (!add(frame, *caller, Trust::frame_pointer)) return false;
    frame = *caller;
  }
  return false;
}

// The FunctionID of managed code and of stubs; 0: other code.
std::uint64_t GuessingStep::function_at(const Cursor& frame) noexcept {
  const std::uint64_t ip = frame.code().lookup();
  const ModuleSpan* const module = view_.modules.find(ip);
  return module == nullptr || module->has_managed_code ? managed_.at(ip).id : 0;
}

// Folklore: managed code that calls out (P/Invoke, calli, COM) has the runtime's InlinedCallFrame in its own frame.
// In that one stand, next to each other, the Rsp of the call and the address where the method goes on; the
// address is cleared when the call returns. (CoreCLR's frames.h, from .NET 8 to 10 alike; the Rsp is that from
// before a stackalloc.) Situation: a frame without unwind data lies where the caller has called managed code
// before; what those calls have left behind unwinds to the caller as well. Real case: the ladder's engine
// without frame pointers, two managed frames of calls that were long over. Test: ladder_test, *Engine*.
bool GuessingStep::has_called_out(const Cursor& frame, std::uint64_t end) const noexcept {
  const std::uint64_t rsp = frame.registers.rsp();
  std::uint64_t before = 0;
  end = std::min(end, rsp + kMaxFrameBytes);
  for (std::uint64_t at = rsp; at < end; at += kWord) {
    const auto word = stack_word(at);
    if (!word) return false;
    if (*word == frame.registers.rip && before >= rsp && before < end) return true;
    before = *word;
  }
  return false;
}

bool GuessingStep::meets_bound(const Cursor& frame, const Cursor& last) noexcept {
  const auto is_function = [&](const Cursor& at) {
    return goal_.function != 0 && function_at(at) == goal_.function;
  };
  if (frame.registers.rsp() > goal_.bound.rsp) return is_function(last);
  return frame.registers.rip == goal_.bound.rip || is_function(frame);
}

bool GuessingStep::add(const Cursor& frame, const Cursor& caller, Trust trust) noexcept {
  if (count_ == GuessScratch::kMaxGuesses) return false;
  view_.scratch.way[count_++] = {frame.registers.rip,    frame.registers.rsp(),
                                 caller.registers.rip,   caller.registers.rsp(),
                                 caller.registers[Register::rbp], trust};
  return true;
}

std::optional<Cursor> GuessingStep::by_frame_pointer(const Cursor& frame) noexcept {
  const std::uint64_t rsp = frame.registers.rsp();
  // Where the frame pointer is not yet set, or no longer, the words are at Rsp.
  const bool pushed = has_pushed_rbp(frame);
  const std::uint64_t at = pushed ? rsp : frame.registers[Register::rbp];
  if (at < rsp || at % kWord != 0) return std::nullopt;
  const auto saved = stack_word(at);
  if (!saved) return std::nullopt;
  return caller_at(frame, at + kWord, *saved);
}

std::optional<Cursor> GuessingStep::caller_at(const Cursor& frame, std::uint64_t slot,
                                              std::uint64_t rbp) noexcept {
  const auto word = stack_word(slot);
  if (!word || !may_have_called(*word, frame)) return std::nullopt;
  return caller_with(*word, slot + kWord, rbp);
}

bool GuessingStep::may_have_called(std::uint64_t return_address, const Cursor& frame) noexcept {
  if (!can_be_address(return_address)) return false;
  const std::uint64_t ip = frame.registers.rip;
  return view_.leaf.may_lead_to(return_address, {ip - std::min(ip, kMaxFunctionBytes), ip});
}

// Whether the thread stands at an instruction that finds its return address at Rsp: the first one of a function
// that keeps a frame pointer (push rbp), behind endbr64 or not, or a return.
bool GuessingStep::starts_or_returns(const Cursor& frame) const noexcept {
  if (frame.kind != AddressKind::instruction_pointer) return false;
  std::array<std::uint8_t, 4> bytes{};
  const std::size_t known = view_.code.read_up_to(frame.registers.rip, bytes.data(), bytes.size());
  const std::span<const std::uint8_t> code(bytes.data(), known);
  return starts_with(code, {0x55}) || starts_with(code, {0x40, 0x55}) || starts_with(code, {0xC3}) ||
         starts_with(code, {0xC2}) || starts_with(code, {0xF3, 0x0F, 0x1E, 0xFA});
}

// Whether the thread stands between `push rbp` and `mov rbp, rsp`.
bool GuessingStep::has_pushed_rbp(const Cursor& frame) const noexcept {
  if (frame.kind != AddressKind::instruction_pointer) return false;
  std::array<std::uint8_t, 4> bytes{};
  if (!view_.code.read(frame.registers.rip - 1, bytes.data(), bytes.size())) return false;
  return starts_with(bytes, {0x55, 0x48, 0x89, 0xE5}) || starts_with(bytes, {0x55, 0x48, 0x8B, 0xEC});
}

// In the target's addresses, though the copy's pointers may have been rewritten.
std::optional<std::uint64_t> GuessingStep::stack_word(std::uint64_t address) const noexcept {
  const auto word = view_.stack.read_value<std::uint64_t>(address);
  if (!word) return std::nullopt;
  Registers registers;
  registers[Register::rbp] = *word;
  return view_.stack.to_target(registers)[Register::rbp];
}

}  // namespace mixwalk
