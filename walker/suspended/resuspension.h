#pragma once

#include <cstddef>
#include <cstdint>

#include "walker/suspended/raw_sample.h"

namespace mixwalk {

// Decides whether a thread is suspended again after it was suspended once, for walks from inside and from outside.
// Pure; called only while no thread is frozen.
//
// A look is one suspension of a thread, or of a group of threads. Each look costs the target time, so a further one
// needs a reason, and each reason has a limit:
//
// - There is no stack (no_stack). The thread ran before it was copied (the machine was busy with other work for a whole
//   deadline. Real case: one thread of 200 in a dump, with a load of 12 on two cores;
//   Dump.TwoHundredThreadsInOneAttach), it could not be suspended at that moment, its group had no room for its stack,
//   or code on its stack was unloaded, so that its addresses may mean something else by now. A dump tries more often
//   than a recording, where another sample follows. A program that unloads hundreds of assemblies needs time for that,
//   and meanwhile the runtime cannot be asked about new code, so a dump pauses before its later looks. A thread that
//   costs a whole deadline each time is left alone sooner; a recording comes back to it with its next sample.
// - The look shows two moments (two_moments). The system was just sending the thread an exception, so its registers may
//   be of two moments; or its stack has grown since its limits were read. A debugger may hold a thread in that state,
//   so the last look counts. In a group such a thread has no copy (group_capture.h), and UnmovedStack does not keep it.
// - The stack has a gap, and code or an image was unloaded meanwhile (gap_may_be_unloaded_code). One more look is made,
//   and the first stack is kept for the case that the second look gives none.
// - The stack has a gap, and the runtime may know more (lacks_runtime). The engine `automatic` does not ask the runtime
//   about a thread that may hold one of its locks, nor while several threads are frozen. One more look is made, at this
//   thread alone, by a probe and DoStackSnapshot.
//
// There is no other reason: not for a thread that ends, or whose registers the system refuses, and not for one that has
// not moved since its last sample (UnmovedStack).
struct LookReasons {
  bool no_stack = false;
  bool two_moments = false;
  bool gap_may_be_unloaded_code = false;
  bool lacks_runtime = false;
  bool overdue = false;  // no reason of its own: the look took a whole deadline

  // Whether a thread that was looked at in a group needs another look. `kept`: the stack of an earlier look is kept.
  bool after_group(bool kept = false) const noexcept {
    return no_stack || lacks_runtime || (gap_may_be_unloaded_code && !kept);
  }
};

// Whether a thread that has no copy can have one at another moment. `another_follows`: the thread is looked at again
// with the next sample anyway.
constexpr bool can_be_copied_later(CaptureFault fault, bool another_follows) noexcept {
  return fault == CaptureFault::no_room || fault == CaptureFault::not_now ||
         (fault == CaptureFault::overdue && !another_follows);
}

// The looks at one thread, for one sample of it.
class Looks {
 public:
  static constexpr int kOfRecording = 4, kOfDump = 16;
  // The limits for a thread whose looks each take a whole deadline, and for looks that show two moments.
  static constexpr int kOverdue = 3, kOfTwoMoments = 3;
  // The first looks come without a pause, and a recording makes no more than these. Before look n there is a pause of n
  // ms. A whole dump pauses no longer than kMaxPausesMs.
  static constexpr int kAtOnce = 4;
  static constexpr std::uint32_t kMaxPausesMs = 2000;

  explicit Looks(int most = kOfDump) noexcept : most_(most) {}

  enum class Next { none, again, keep_and_again };  // keep: this look's stack, for the case that the next has none
  // What follows on the look that had this result. `pause` sleeps for some ms; it returns false if there is no time
  // left.
  template <class Pause>
  Next after(const LookReasons& look, Pause pause) {
    ++looks_;
    if (kept_) return Next::none;
    const int most = look.overdue ? kOverdue : most_;
    if (look.no_stack && looks_ < most && (looks_ < kAtOnce || pause(static_cast<std::uint32_t>(looks_ + 1)))) {
      return Next::again;
    }
    if (look.two_moments && looks_ < kOfTwoMoments) return Next::again;
    kept_ = look.gap_may_be_unloaded_code && !look.overdue;
    return kept_ ? Next::keep_and_again : Next::none;
  }

 private:
  int most_, looks_ = 0;
  bool kept_ = false;
};

// The looks at all threads of a dump at once. If possible, all its copies are of one moment. Threads without a copy of
// the first moment are captured together at the next one; threads without a copy after the last moment are captured one
// by one.
class Moments {
 public:
  static constexpr std::size_t kMost = 8;     // and as many as the threads need that do not fit into one group
  static constexpr std::size_t kOverdue = 2;  // each costs the process a whole deadline

  Moments(std::size_t threads, std::size_t in_one_group) noexcept : most_(kMost + threads / in_one_group) {}

  bool another() const noexcept { return taken_ < most_ && overdue_ < kOverdue; }
  void took(bool overdue) noexcept {
    ++taken_;
    overdue_ += overdue;
  }

 private:
  std::size_t most_, taken_ = 0, overdue_ = 0;
};

}  // namespace mixwalk
