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
// `process` needs PROCESS_QUERY_LIMITED_INFORMATION.
Launched launched_by(HANDLE process);

}  // namespace mixwalk
