#include "walker/hang/crash_place.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace mixwalk {
namespace {

// Functions of C++ runtimes that raise an exception. Programs have them in their own images.
bool throws(std::string_view function) {
  constexpr std::array<std::string_view, 7> kThrows = {
      "_Unwind_RaiseException", "_Unwind_Resume_or_Rethrow", "__cxa_throw", "__cxa_rethrow",
      "std::rethrow_exception", "_CxxThrowException",        "__CxxThrowException"};
  return std::ranges::any_of(kThrows, [&](std::string_view name) { return function.starts_with(name); });
}

}  // namespace

CrashPlace crash_place(const FrameNames& names) {
  CrashPlace place;
  const Snapshot& snapshot = names.snapshot();
  if (!snapshot.crash) return place;
  const auto thread = std::ranges::find(snapshot.threads, snapshot.crash->thread, &Thread::os_id);
  if (thread == snapshot.threads.end()) return place;
  place.thread = &*thread;
  const std::vector<StackFrame>& frames = thread->stack.frames;
  const auto index = [&](auto frame) {
    return frame == frames.end() ? kNoFrame : static_cast<std::uint32_t>(frame - frames.begin());
  };
  // Frames that are inlined there have the same address, and come first.
  place.frame = index(std::ranges::find_if(frames, [&](const Frame& frame) {
    return frame.kind != FrameKind::gap && frame.address == snapshot.crash->address;
  }));
  // Frames above are of handlers.
  const auto from = frames.begin() + (place.frame != kNoFrame ? place.frame : 0);
  place.program = index(std::find_if(from, frames.end(), [&](const Frame& frame) {
    return names.of_program(frame) && !(frame.kind == FrameKind::native && throws(frame.name));
  }));
  return place;
}

}  // namespace mixwalk
