#pragma once

#include <windows.h>

#include <vector>

#include "walker/session/launched_children.h"

namespace mixwalk {

// The processes that this process, or one of its children, has started, and that run now. The process may have ended.
struct Launched {
  std::vector<LaunchedChild> children;  // of .NET, and of 32 bits
  bool others = false;                  // whether there are others, which may still load a runtime
};
// `process` needs PROCESS_QUERY_LIMITED_INFORMATION. `inherited`: the id of a process that has the environment of a
// started program, since mixwalk.dll connected from it; 0 for none. It may be the child of a child that has ended.
// Nothing else connects it with `process` then. It counts if it is not older than `process`.
Launched launched_by(HANDLE process, std::uint32_t inherited);

}  // namespace mixwalk
