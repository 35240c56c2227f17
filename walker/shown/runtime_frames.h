#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "walker/model/recording.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// Frames of a stack that are shown to a person as one: frames of the runtime itself that have no name.
struct FoldedFrames {
  std::size_t first = 0, count = 0;  // in Stack::frames; inlined calls are counted too
  std::string role;                  // "thread start", "Monitor.Enter waits in the runtime", "the runtime"
};

// Finds such frames. They are two or more consecutive native frames that are
// - in the runtime's images (runtime_images.h), in hostfxr.dll or hostpolicy.dll, or in the program's own image if that
//   is Microsoft's host (which is so if hostfxr's frame above is a function that only this host calls), and have no
//   name from debug information;
// - or in the functions by which the system starts a thread, at the stack's root, below such frames.
// A frame that is marked (StackFrame::call) or was guessed, and a gap, are never among them, because they end a row.
//
// The role follows from the neighbouring frames. Frames between the thread's first managed method and the root are the
// thread's start, or, if frames of the host are among them, the start of the program. Frames that a method of the
// library calls are that method's work, or its wait if the thread is in a wait of the system directly above. All other
// frames get the role of the runtime. Pure.
class RuntimeFrames {
 public:
  explicit RuntimeFrames(const Snapshot& snapshot);
  explicit RuntimeFrames(const Recording& recording);

  // The result is in the order of the stack, leaf first.
  std::vector<FoldedFrames> of(const Stack& stack) const;
  // The same of a recorded stack, leaf first, in which no frame is marked.
  std::vector<FoldedFrames> of(const std::vector<const Frame*>& frames) const;

 private:
  enum class Part : unsigned char { other, runtime, host, system_start };

  void add_images(const std::vector<Module>& modules, const Process& process);
  Part part_of(const Frame& frame) const;
  // `marked`: the frames that are marked, by index; empty if none is.
  std::vector<FoldedFrames> fold(const std::vector<const Frame*>& frames, const std::vector<bool>& marked,
                                 bool reaches_root) const;

  std::vector<bool> runtime_, host_, program_;  // by module
  std::vector<std::string> images_;             // file names in lower case
};

}  // namespace mixwalk
