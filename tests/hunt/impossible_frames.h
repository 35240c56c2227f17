#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace mixwalk {

// Calls that the programs of fixtures/hunt and fixtures/torture never make. Each check takes the names of a stack's
// frames, leaf first, and returns what is wrong with them, or an empty text.

// Whether `caller` is directly below `callee` in the stack.
inline bool calls(const std::vector<std::string>& frames, std::string_view caller,
                  std::string_view callee) {
  for (std::size_t i = 0; i + 1 < frames.size(); ++i) {
    if (frames[i].find(callee) != std::string::npos &&
        frames[i + 1].find(caller) != std::string::npos) {
      return true;
    }
  }
  return false;
}

inline std::string wrong_method(const std::vector<std::string>& frames) {
  const bool wrong = calls(frames, "dm_B", "CalledByA") || calls(frames, "dm_A", "CalledByB");
  return wrong ? "a dynamic method has the name of another" : "";
}

inline std::string wrong_image(const std::vector<std::string>& frames) {
  const bool wrong =
      calls(frames, "hunt_calls_b", "turn_call_a") || calls(frames, "hunt_calls_a", "turn_call_b");
  return wrong ? "code of one image has the name of another's" : "";
}

inline std::string never_called(const std::vector<std::string>& frames) {
  const bool there = std::ranges::find(frames, "hunt_never_called") != frames.end();
  return there ? "a function that is never called" : "";
}

}  // namespace mixwalk
