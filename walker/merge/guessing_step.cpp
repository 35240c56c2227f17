#include "walker/merge/guessing_step.h"

#include <algorithm>
#include <span>

#include "unmanaged/user_address.h"

namespace mixwalk {
namespace {

// The function of an instruction begins at most this many bytes before the instruction. The limit is high, since
// engines that compile scripts make long functions.
constexpr std::uint64_t kMaxFunctionBytes = 1 << 16;

// The limit for consecutive frames that have neither unwind data nor a frame pointer.
constexpr int kMaxDepth = 8;

// The limit for one search. A search up to this limit takes some milliseconds. Several searches may be made per stack.
constexpr unsigned kStepsOfSearch = 1024;
constexpr unsigned kWordsOfSearch = 4096;

// The size limit for the frame of a managed method that calls native code. Some methods keep buffers in it.
constexpr std::uint64_t kMaxFrameBytes = 1 << 16;

constexpr std::uint64_t kWord = sizeof(std::uint64_t);

// Only the registers Rsp and Rbp of the caller are known.
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
  const bool possible_leaf =
      stepped.fault == StepFault::none && stepped.trust == Trust::leaf && !stepped.proven;
  const bool wanted = lacks_caller(before, stepped) || (possible_leaf && is_ambiguous(before, frame));
  if (!wanted || searched_) return stepped;
  searched_ = true;
  if (!find_way(before)) return stepped;
  frame = before;
  return step(frame, leaf);
}

// Whether the word at Rsp proves nothing, although a call through a register would have left such a word there. It
// proves nothing if neither the code in which the thread is nor the code that the word leads to has unwind data,
// because code without unwind data may have moved Rsp.
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
  search_ = {std::min(steps_left_, kStepsOfSearch), std::min(words_left_, kWordsOfSearch)};
  const Budget before = search_;
  const bool found = starts_or_returns(frame) ? by_word_at_rsp(frame) : by_any_word(frame);
  steps_left_ -= before.steps - search_.steps;
  words_left_ -= before.words - search_.words;
  if (!found) count_ = 0;
  return found;
}

// The return address is at Rsp, whatever value Rbp has, because Rbp is still the caller's.
bool GuessingStep::by_word_at_rsp(const Cursor& frame) noexcept {
  const std::uint64_t rsp = frame.registers.rsp();
  const auto caller = caller_at(frame, rsp, frame.registers[Register::rbp]);
  return caller && add(frame, *caller, Trust::scan) && leads_to_goal(frame, *caller, 0);
}

bool GuessingStep::by_any_word(const Cursor& frame) noexcept {
  if (const auto caller = by_frame_pointer(frame)) {
    if (add(frame, *caller, Trust::frame_pointer) && leads_to_goal(frame, *caller, 0)) return true;
    count_ = 0;
  }
  return scan(frame, 0);
}

// A word that may be a return address and did not lead to the goal is not tried again from another frame, unless the
// search was stopped before its end.
bool GuessingStep::scan(const Cursor& frame, int depth) noexcept {
  if (depth == kMaxDepth) {
    cut_short_ = true;
    return false;
  }
  const std::size_t before = count_;
  // No caller is beyond the frame that the walk must meet.
  const std::uint64_t end =
      std::min({first_word_ + GuessScratch::kMaxWords * kWord, goal_.bound.rsp, view_.stack.end()});
  for (std::uint64_t slot = frame.registers.rsp(); slot + kWord <= end && !is_given_up(); slot += kWord) {
    const std::size_t index = (slot - first_word_) / kWord;
    if (view_.scratch.tried[index]) continue;
    // Code that has no frame pointer may leave its caller's Rbp in the register.
    const std::uint64_t rbp = frame.registers[Register::rbp];
    const auto caller = caller_at(frame, slot, rbp > slot ? rbp : 0);
    if (!caller) continue;
    cut_short_ = false;
    if (add(frame, *caller, Trust::scan) && leads_to_goal(frame, *caller, depth + 1)) return true;
    view_.scratch.tried[index] = !cut_short_;
    count_ = before;
  }
  return false;
}

bool GuessingStep::leads_to_goal(Cursor last, Cursor frame, int depth) noexcept {
  const bool bounded = goal_.bound.rsp != RunBound::kNone;
  bool managed_met = false;
  while (!is_given_up()) {
    --search_.steps;
    if (bounded && frame.registers.rsp() >= goal_.bound.rsp) return meets_bound(frame, last);
    if (is_root(frame)) return !bounded;
    const std::uint64_t function = managed_met ? 0 : function_at(frame);
    last = frame;
    const StepResult stepped = step_.step(frame, leaf_rule(frame.kind));
    if (stepped.fault == StepFault::none) {
      if (function == 0) continue;
      // The frame that must be met may have moved its Rsp, and may be before the bound.
      if (function != goal_.function && !has_called_out(last, frame.registers.rsp())) return false;
      managed_met = true;
      continue;
    }
    // The walk has no time left, so other words are not tried.
    if (stepped.fault == StepFault::too_slow) search_.steps = 0;
    if (!lacks_caller(frame, stepped)) return false;
    const auto caller = by_frame_pointer(frame);
    if (!caller) return scan(frame, depth);
    if (!add(frame, *caller, Trust::frame_pointer)) return false;
    frame = *caller;
  }
  return false;
}

// The FunctionID of managed code and of stubs; 0 means other code.
std::uint64_t GuessingStep::function_at(const Cursor& frame) noexcept {
  const std::uint64_t ip = frame.code().lookup();
  const ModuleSpan* const module = view_.modules.find(ip);
  return module == nullptr || module->has_managed_code ? managed_.at(ip).id : 0;
}

// Folklore: managed code that calls native code (P/Invoke, calli, COM) keeps the runtime's InlinedCallFrame in its own
// frame. In the InlinedCallFrame the Rsp of the call and the address where the method continues are next to each other;
// the runtime clears the address when the call returns. (CoreCLR's frames.h, the same from .NET 8 to 10; the Rsp is the
// one from before a stackalloc.) Situation: a frame without unwind data is on memory in which its caller called managed
// code earlier, and the words that those calls left there unwind to the caller as well. Real case: the ladder's engine
// without frame pointers, two managed frames of calls that had long returned. Test: ladder_test, *Engine*.
bool GuessingStep::has_called_out(const Cursor& frame, std::uint64_t end) const noexcept {
  const std::uint64_t rsp = frame.registers.rsp();
  std::uint64_t before = 0;
  end = std::min(end, rsp + kMaxFrameBytes);
  for (std::uint64_t at = rsp; at < end; at += kWord) {
    const auto word = view_.stack.word(at);
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
  // If the caller's Rbp was pushed, and Rbp is not yet set, the words are at Rsp.
  const std::uint64_t at = has_pushed_rbp(frame) ? rsp : frame.registers[Register::rbp];
  if (at < rsp || at % kWord != 0) return std::nullopt;
  const auto saved = view_.stack.word(at);
  if (!saved) return std::nullopt;
  return caller_at(frame, at + kWord, *saved);
}

std::optional<Cursor> GuessingStep::caller_at(const Cursor& frame, std::uint64_t slot,
                                              std::uint64_t rbp) noexcept {
  if (is_given_up() || slot + kWord > goal_.bound.rsp) return std::nullopt;
  --search_.words;
  const auto word = view_.stack.word(slot);
  if (!word || !may_have_called(*word, frame)) return std::nullopt;
  return caller_with(*word, slot + kWord, rbp);
}

bool GuessingStep::may_have_called(std::uint64_t return_address, const Cursor& frame) noexcept {
  if (!is_user_address(return_address)) return false;
  return view_.leaf.may_lead_to(return_address, code_of(frame));
}

// The function, as far as it is known. In an image it is the code between two functions that have unwind data.
LeafCode GuessingStep::code_of(const Cursor& frame) const noexcept {
  const std::uint64_t ip = frame.registers.rip;
  const ModuleSpan* const module = view_.modules.find(frame.code().lookup());
  if (module == nullptr) return {ip - std::min(ip, kMaxFunctionBytes), ip};
  const auto rva = static_cast<std::uint32_t>(frame.code().lookup() - module->base);
  const EntrySearch gap = find_entry(view_.code, *module, rva);
  return gap.fault != StepFault::none || gap.found ? LeafCode{ip, ip} : leaf_code(*module, gap, ip);
}

// Whether the thread is at an instruction at which the return address is at Rsp. This is the first instruction of a
// function that keeps a frame pointer (push rbp), also after endbr64, or a return instruction.
bool GuessingStep::starts_or_returns(const Cursor& frame) const noexcept {
  if (frame.kind != AddressKind::instruction_pointer) return false;
  std::array<std::uint8_t, 4> bytes{};
  const std::size_t known = view_.code.read_up_to(frame.registers.rip, bytes.data(), bytes.size());
  const std::span<const std::uint8_t> code(bytes.data(), known);
  return starts_with(code, {0x55}) || starts_with(code, {0x40, 0x55}) || starts_with(code, {0xC3}) ||
         starts_with(code, {0xC2}) || starts_with(code, {0xF3, 0x0F, 0x1E, 0xFA});
}

// Whether the thread is between `push rbp` and `mov rbp, rsp`.
bool GuessingStep::has_pushed_rbp(const Cursor& frame) const noexcept {
  if (frame.kind != AddressKind::instruction_pointer) return false;
  std::array<std::uint8_t, 4> bytes{};
  if (!view_.code.read(frame.registers.rip - 1, bytes.data(), bytes.size())) return false;
  return starts_with(bytes, {0x55, 0x48, 0x89, 0xE5}) || starts_with(bytes, {0x55, 0x48, 0x8B, 0xEC});
}

}  // namespace mixwalk
