#include "symbols/index/disjoint.h"

#include <algorithm>
#include <queue>
#include <tuple>
#include <utility>

namespace mixwalk {
namespace {

// Orders the queue so that its top is the claim to which the code belongs.
struct Weaker {
  bool operator()(const ClaimedRange& left, const ClaimedRange& right) const noexcept {
    return std::tie(left.rank, left.begin, left.scope) < std::tie(right.rank, right.begin, right.scope);
  }
};

class Segments {
 public:
  // Begins a segment at `rva`. The segment continues up to the next call.
  void begin(std::uint32_t rva, ScopeId scope) {
    if (!list_.empty() && list_.back().rva == rva) list_.pop_back();
    if (list_.empty() ? scope == kNoScope : list_.back().scope == scope) return;
    list_.push_back({rva, scope});
  }
  std::vector<Segment> take() {
    list_.shrink_to_fit();
    return std::move(list_);
  }

 private:
  std::vector<Segment> list_;
};

}  // namespace

std::vector<Segment> disjoint(std::vector<ClaimedRange> claims) {
  std::erase_if(claims, [](const ClaimedRange& claim) { return claim.begin >= claim.end; });
  std::sort(claims.begin(), claims.end(),
            [](const ClaimedRange& left, const ClaimedRange& right) { return left.begin < right.begin; });
  Segments segments;
  std::priority_queue<ClaimedRange, std::vector<ClaimedRange>, Weaker> open;
  auto next = claims.begin();
  while (next != claims.end() || !open.empty()) {
    if (!open.empty() && (next == claims.end() || open.top().end <= next->begin)) {
      // The strongest claim ends. The code behind it belongs to the strongest claim that has not ended as well.
      const std::uint32_t ended = open.top().end;
      while (!open.empty() && open.top().end <= ended) open.pop();
      segments.begin(ended, open.empty() ? kNoScope : open.top().scope);
    } else {
      open.push(*next);
      segments.begin(next->begin, open.top().scope);
      ++next;
    }
  }
  return segments.take();
}

}  // namespace mixwalk
