#include "walker/shown/repeated_frames.h"

#include <algorithm>

namespace mixwalk {
namespace {

constexpr std::size_t kMaxPeriod = 64;  // frames; a recursion through a serializer or a parser has some 10 to 30
// Only so many frames are worth a line that stands for them.
constexpr std::size_t kMinTimes = 3, kMinFrames = 12;

bool are_same(const Frame& left, const Frame& right) {
  return left.address == right.address && left.kind == right.kind && left.inline_depth == right.inline_depth &&
         left.kind != FrameKind::gap && left.name == right.name;
}

}  // namespace

std::vector<RepeatedFrames> repeated_frames(const Stack& stack, std::span<const std::size_t> shown) {
  std::vector<RepeatedFrames> found;
  for (std::size_t i = 0; i < shown.size();) {
    std::size_t next = i + 1;
    for (std::size_t period = 1; period <= std::min(kMaxPeriod, (shown.size() - i) / 2); ++period) {
      std::size_t same = 0;
      while (i + period + same < shown.size() &&
             are_same(stack.frames[shown[i + same]], stack.frames[shown[i + period + same]])) {
        ++same;
      }
      const std::size_t times = same / period;
      if (times < kMinTimes || times * period < kMinFrames) continue;
      found.push_back({static_cast<std::ptrdiff_t>(i + period), period, times});
      next = i + period + times * period;
      break;
    }
    i = next;
  }
  return found;
}

}  // namespace mixwalk
