#include "symbols/pdb/inline_tree.h"

#include <algorithm>
#include <map>

namespace mixwalk {
namespace {

struct Event {
  std::uint32_t at = 0;
  std::uint32_t code = 0;  // its number
  bool begins = false;
};

// The limit for scopes that are visited at each end of a piece of code; all scopes that are open there are visited.
// Real chains have up to 40.
constexpr std::uint64_t kStepsPerEvent = 64, kFewSteps = 65'536;

}  // namespace

bool cut_into_chains(std::uint32_t bytes, std::span<const std::uint32_t> parents,
                     std::vector<ScopedCode> code, ChainSink& sink) {
  std::vector<Event> events;
  events.reserve(code.size() * 2);
  for (std::uint32_t i = 0; i < code.size(); ++i) {
    PlacedCode& place = code[i].code;
    place.end = std::min(place.end, bytes);
    if (place.begin >= place.end || code[i].scope >= parents.size()) continue;
    events.push_back({place.begin, i, true});
    events.push_back({place.end, i, false});
  }
  // Ends come first, so that a scope that continues in another line has only one piece of code open at a time.
  std::sort(events.begin(), events.end(), [](const Event& left, const Event& right) {
    if (left.at != right.at) return left.at < right.at;
    if (left.begins != right.begins) return !left.begins;
    return left.code < right.code;
  });

  std::map<std::uint32_t, std::uint32_t> open;  // scope → its code; parents come before children
  std::vector<ChainStep> chain, before;
  std::uint32_t begin = 0, begin_before = 0;
  std::uint64_t steps = 0;
  const std::uint64_t max_steps = kFewSteps + kStepsPerEvent * events.size();
  const auto flush = [&](std::uint32_t end) {
    if (begin_before < end && !before.empty()) sink.piece(begin_before, end, before);
    begin_before = end;
  };
  const auto piece = [&](std::uint32_t end) {
    if (begin >= end) return;
    chain.assign(1, {});
    for (const auto& [scope, number] : open) {
      const PlacedCode& place = code[number].code;
      if (scope == 0) {
        chain.front() = {0, place.file, place.line};
      } else if (parents[scope] == chain.back().scope && chain.size() < SymbolIndex::kMaxDepth) {
        chain.push_back({scope, place.file, place.line});
      }
    }
    steps += open.size() + 1;
    if (chain != before) {
      flush(begin);
      before = chain;
    }
    begin = end;
  };
  for (const Event& event : events) {
    if (steps > max_steps) break;
    piece(event.at);
    const std::uint32_t scope = code[event.code].scope;
    if (event.begins) {
      open[scope] = event.code;
    } else if (const auto at = open.find(scope); at != open.end() && at->second == event.code) {
      open.erase(at);
    }
  }
  const bool whole = steps <= max_steps;
  open.clear();
  piece(bytes);
  flush(bytes);
  return whole;
}

}  // namespace mixwalk
