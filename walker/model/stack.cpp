#include "walker/model/stack.h"

#include <algorithm>

namespace mixwalk {

bool Stack::whole() const noexcept {
  return !frames.empty() && std::none_of(runs.begin(), runs.end(), [](const Run& run) {
    return run.end == RunEnd::open;
  });
}

}  // namespace mixwalk
