#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "unmanaged/step/leaf_step.h"
#include "unmanaged/step/memory_reader.h"
#include "unmanaged/step/module_view.h"
#include "unmanaged/step/native_run.h"
#include "unmanaged/step/stack_copy.h"
#include "unmanaged/step/unwind_step.h"
#include "walker/merge/managed_code.h"

namespace mixwalk {

// The place at which a walk must arrive so that its guesses count: a managed frame or, without a bound, the thread's
// root.
struct WalkGoal {
  RunBound bound;
  std::uint64_t function = 0;  // FunctionID of the managed frame; 0 if the walk must meet the bound's Rip
};

// What guessing remembers about one stack. It takes some 15 KB, so it must not be on a stack of the target's.
struct GuessScratch {
  // How many words of the stack are searched, from the first frame without unwind data on. This many take 64 KiB.
  static constexpr std::size_t kMaxWords = 8192;
  static constexpr std::size_t kMaxGuesses = 256;  // in one chain of callers

  // A frame whose caller was guessed.
  struct Guess {
    std::uint64_t rip, rsp;
    std::uint64_t caller_rip, caller_rsp, caller_rbp;
    Trust trust;
  };
  std::bitset<kMaxWords> tried;  // words that did not lead to the goal
  std::array<Guess, kMaxGuesses> way;
};

// The stack and the code that a guess reads. The stack's pointers may be rewritten.
struct GuessView {
  const ModuleView& modules;
  const MemoryReader& code;
  const StackCopy& stack;
  LeafStep& leaf;
  GuessScratch& scratch;
};

// Steps by another unwinder. If the code of a frame has no unwind data and is no leaf function, as the code of another
// engine in the process or an assembly routine, this guesses the caller. A guess is one of
// - the frame that Rbp leads to, as in code that keeps frame pointers (trust frame_pointer);
// - the first word above Rsp that can be a return address (trust scan).
// The address must directly follow a call that can have led to the frame above. No guess counts alone: the walk goes on
// from the guessed frame, by unwind data or further guesses, and must arrive at the goal. The first managed frame on
// the way must be one that has called native code. Otherwise the frame has no caller, as if nothing had been guessed.
// Frames in between may be missing, and a word that an earlier call left on the stack may be taken for a frame. So a
// stack with guessed frames is not whole (Completeness).
//
// Of the caller's registers only Rsp and Rbp are known. The others are 0, so unwind data that needs one of them does
// not lead to the goal. Not frozen-safe, since the step is not. One object serves one stack.
class GuessingStep final : public UnwindStep {
 public:
  GuessingStep(UnwindStep& step, const GuessView& view, ManagedCode& managed) noexcept
      : step_(step), view_(view), managed_(managed) {}

  // To be called before each walk.
  void set_goal(const WalkGoal& goal) noexcept;

  StepResult step(Cursor& frame, LeafRule leaf) noexcept override;

 private:
  // Whether a step from the frame found no caller because the frame's code has no unwind data.
  bool lacks_caller(const Cursor& frame, const StepResult& stepped) noexcept;
  bool is_ambiguous(const Cursor& frame, const Cursor& leaf_caller) noexcept;
  bool find_way(const Cursor& frame) noexcept;
  bool by_word_at_rsp(const Cursor& frame) noexcept;
  bool by_any_word(const Cursor& frame) noexcept;
  bool scan(const Cursor& frame, int depth) noexcept;
  // `last`: the frame whose caller `frame` may be.
  bool leads_to_goal(Cursor last, Cursor frame, int depth) noexcept;
  bool is_given_up() const noexcept { return search_.steps == 0 || search_.words == 0; }
  std::uint64_t function_at(const Cursor& frame) noexcept;
  // `end`: the Rsp of the frame's caller.
  bool has_called_out(const Cursor& frame, std::uint64_t end) const noexcept;
  // Whether a frame at or beyond the bound meets the bound together with the frame before it.
  bool meets_bound(const Cursor& frame, const Cursor& last) noexcept;
  bool add(const Cursor& frame, const Cursor& caller, Trust trust) noexcept;

  std::optional<Cursor> by_frame_pointer(const Cursor& frame) noexcept;
  std::optional<Cursor> caller_at(const Cursor& frame, std::uint64_t slot, std::uint64_t rbp) noexcept;
  bool may_have_called(std::uint64_t return_address, const Cursor& frame) noexcept;
  LeafCode code_of(const Cursor& frame) const noexcept;
  bool starts_or_returns(const Cursor& frame) const noexcept;
  bool has_pushed_rbp(const Cursor& frame) const noexcept;

  UnwindStep& step_;
  GuessView view_;
  ManagedCode& managed_;
  WalkGoal goal_;
  bool searched_ = false;
  // The chain of guesses that was found: the number of entries in scratch.way, and the index of the next one.
  std::size_t count_ = 0, next_ = 0;
  // How many more steps may be tried, and how many more words of the stack may be looked at.
  struct Budget {
    unsigned steps = 0, words = 0;
  };
  unsigned steps_left_ = 4096, words_left_ = 16'384;  // for this stack: some 30 ms at most
  Budget search_;                                     // for the search in progress
  bool cut_short_ = false;  // the last word was not followed to the end: too many nested scans
  std::uint64_t first_word_ = 0;
};

}  // namespace mixwalk
