#include "walker/hang/wait_chains.h"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

namespace mixwalk {
namespace {

constexpr std::uint32_t kNone = WaitLink::kNone;

// Chooses for each node the need that decides whether it goes on.
class Deciders {
 public:
  Deciders(const WaitGraph& graph, std::span<const Outlook> threads) : graph_(graph), threads_(threads) {
    const std::uint32_t size = graph.size();
    std::vector<bool> by_itself(size);
    for (const Outlook least : {Outlook::goes_on, Outlook::unclear, Outlook::stands}) {
      for (std::uint32_t node = 0; node < size; ++node) {
        by_itself[node] = graph.way_out(node) != WayOut::none && outlook_of_way_out(node) >= least;
      }
      orders_.push_back(order_of_going_on(graph, by_itself));
    }
  }

  bool locked(std::uint32_t node) const { return orders_.back()[node] == WaitGraph::kNone; }

  std::uint32_t next(std::uint32_t node) const {
    const std::size_t level = level_of(node);
    const std::span<const std::uint32_t> needs = graph_.needs(node);
    if (level == orders_.size()) {
      const auto first = std::ranges::find_if(needs, [&](std::uint32_t need) { return locked(need); });
      return first == needs.end() ? kNone : *first;
    }
    // Where it goes on by itself as early as by what it needs, nobody holds it up.
    if (graph_.way_out(node) != WayOut::none && level_of(outlook_of_way_out(node)) == level) return kNone;
    std::uint32_t best = kNone;
    for (const std::uint32_t need : needs) {
      // The order is such that this never leads back.
      const bool decides = level_of(need) == level;
      if (decides && (best == kNone || orders_[level][need] < orders_[level][best])) best = need;
    }
    return best;
  }

 private:
  static std::size_t level_of(Outlook outlook) {
    return static_cast<std::size_t>(Outlook::goes_on) - static_cast<std::size_t>(outlook);
  }

  // Counts from 0, for nodes that go on, to orders_.size(), for nodes that never do.
  std::size_t level_of(std::uint32_t node) const {
    std::size_t level = 0;
    while (level < orders_.size() && orders_[level][node] == WaitGraph::kNone) ++level;
    return level;
  }

  Outlook outlook_of_way_out(std::uint32_t node) const {
    if (graph_.is_thread(node)) return node < threads_.size() ? threads_[node] : Outlook::unclear;
    if (graph_.way_out(node) != WayOut::unknown) return Outlook::goes_on;
    return graph_.node(node).kind == WaitNode::Kind::lock ? Outlook::stands : Outlook::unclear;
  }

  const WaitGraph& graph_;
  std::span<const Outlook> threads_;
  std::vector<std::vector<std::uint32_t>> orders_;  // by level
};

class ChainFinder {
 public:
  ChainFinder(const WaitGraph& graph, std::span<const Outlook> threads) : graph_(graph), snapshot_(graph.snapshot()) {
    const Deciders deciders(graph, threads);
    const std::uint32_t size = graph.size();
    out_.locked.resize(size);
    out_.next.resize(size, kNone);
    for (std::uint32_t node = 0; node < size; ++node) {
      out_.locked[node] = deciders.locked(node);
      out_.next[node] = deciders.next(node);
    }
    find_targets();
    for (std::uint32_t i = 0; i < snapshot_.threads.size(); ++i) out_.links.push_back(link(i, threads));
    find_chains();
  }

  GraphChains take() { return std::move(out_); }

 private:
  // Where the decisive needs of a node that is no thread lead: to a thread, or into a circle without threads.
  struct Target {
    enum class State : std::uint8_t { unknown, on_path, known } state = State::unknown;
    std::uint32_t thread = kNone;
    std::uint32_t circle = kNone;  // its first node
  };
  // Identifies the end of a chain: the first thread of a cycle, the first node of a circle of tasks, the thread at the
  // end, or otherwise the lock.
  using End = std::pair<ChainEnd, std::uint32_t>;
  struct Place {
    bool known = false, on_path = false;
    End end{};
    std::uint32_t steps = 0;
  };

  void find_targets() {
    targets_.resize(graph_.size());
    std::vector<std::uint32_t> path;
    for (std::uint32_t start = static_cast<std::uint32_t>(snapshot_.threads.size()); start < graph_.size(); ++start) {
      std::uint32_t at = start;
      for (; at != kNone && !graph_.is_thread(at) && targets_[at].state == Target::State::unknown; at = out_.next[at]) {
        targets_[at].state = Target::State::on_path;
        path.push_back(at);
      }
      Target target{.state = Target::State::known};
      if (at != kNone && graph_.is_thread(at)) {
        target.thread = at;
      } else if (at != kNone && targets_[at].state == Target::State::known) {
        target = targets_[at];
      } else if (at != kNone) {
        target.circle = *std::min_element(std::ranges::find(path, at), path.end());
        circles_.push_back(target.circle);
      }
      for (; !path.empty(); path.pop_back()) targets_[path.back()] = target;
    }
  }

  WaitLink link(std::uint32_t thread, std::span<const Outlook> threads) const {
    const std::uint32_t first = out_.next[thread];
    if (first == kNone || graph_.is_thread(first)) return {};
    WaitLink link{.thread = thread, .owner = targets_[first].thread};
    const WaitNode node = graph_.node(first);
    if (node.kind == WaitNode::Kind::lock) link.lock = node.index;
    const bool is_lock = link.lock != kNone && snapshot_.locks[link.lock].kind != LockKind::semaphore;
    if (link.owner == kNone) return is_lock ? link : WaitLink{};
    // Another holder may release it.
    const bool open = link.lock != kNone && !snapshot_.locks[link.lock].has_all_holders();
    if (!is_lock && open && !out_.locked[thread]) return {};
    const bool holds_up = link.lock != kNone || out_.locked[thread] ||
                          (link.owner < threads.size() && threads[link.owner] != Outlook::goes_on);
    return holds_up ? link : WaitLink{};
  }

  std::uint32_t circle_of(std::uint32_t thread) const {
    const std::uint32_t first = out_.next[thread];
    return first == kNone || graph_.is_thread(first) ? kNone : targets_[first].circle;
  }
  bool leads_on(std::uint32_t thread) const { return out_.links[thread].waits() || circle_of(thread) != kNone; }

  void find_chains() {
    const std::vector<WaitLink>& links = out_.links;
    std::vector<Place> places(links.size());
    for (std::uint32_t start = 0; start < links.size(); ++start) {
      if (leads_on(start) && !places[start].known) follow(start, places);
    }
    std::map<End, WaitChain> chains;
    std::map<End, std::uint32_t> first;  // the thread with the greatest distance from the end
    for (const std::uint32_t circle : circles_) chains[{ChainEnd::tasks, circle}];
    for (std::uint32_t i = 0; i < links.size(); ++i) {
      if (!leads_on(i)) continue;
      chains[places[i].end].waiters.push_back(i);
      const auto [at, added] = first.try_emplace(places[i].end, i);
      if (added) continue;
      // Of two that are as far away, one that waits for a lock says more than one that waits for the end of a thread.
      // (The order of threads differs from run to run.) Test: Hangs.AContextThatWaitsItself.
      const std::uint32_t farther = places[i].steps, far = places[at->second].steps;
      if (farther > far || (farther == far && waits_for_held(i) && !waits_for_held(at->second))) at->second = i;
    }
    for (auto& [end, chain] : chains) {
      chain.end = end.first;
      if (chain.end == ChainEnd::tasks) {
        chain.circle.push_back(end.second);
        for (std::uint32_t at = out_.next[end.second]; at != end.second; at = out_.next[at]) chain.circle.push_back(at);
      } else {
        add_links(chain, end, first.at(end));
      }
      if (chain.end == ChainEnd::thread) chain.holder = end.second;
      out_.chains.push_back(std::move(chain));
    }
    std::ranges::stable_sort(out_.chains, [](const WaitChain& a, const WaitChain& b) {
      if (a.is_deadlock() != b.is_deadlock()) return a.is_deadlock();
      return a.waiters.size() > b.waiters.size();
    });
  }

  bool waits_for_held(std::uint32_t thread) const {
    const std::uint32_t lock = out_.links[thread].lock;
    return lock != kNone && is_held(snapshot_.locks[lock].kind);
  }

  void add_links(WaitChain& chain, const End& end, std::uint32_t first) const {
    const bool cycle = end.first == ChainEnd::cycle;
    for (std::uint32_t at = cycle ? end.second : first;;) {
      chain.links.push_back(out_.links[at]);
      const std::uint32_t next = out_.links[at].owner;
      if (next == kNone || !out_.links[next].waits() || (cycle && next == end.second)) break;
      at = next;
    }
  }

  void follow(std::uint32_t start, std::vector<Place>& places) const {
    const std::vector<WaitLink>& links = out_.links;
    std::vector<std::uint32_t> path;
    std::uint32_t at = start;
    while (at != kNone && links[at].waits() && !places[at].known && !places[at].on_path) {
      places[at].on_path = true;
      path.push_back(at);
      at = links[at].owner;
    }
    End end{};
    std::uint32_t steps = 0;
    if (at == kNone) {
      const std::uint32_t lock = links[path.back()].lock;
      end = {snapshot_.locks[lock].owner != 0 ? ChainEnd::gone : ChainEnd::nobody, lock};
    } else if (places[at].known) {
      end = places[at].end;
      steps = places[at].steps;
    } else if (circle_of(at) != kNone) {
      end = {ChainEnd::tasks, circle_of(at)};
      path.push_back(at);
    } else if (!links[at].waits()) {
      end = {ChainEnd::thread, at};
    } else {
      const auto cycle = std::ranges::find(path, at);
      const auto lowest = std::min_element(cycle, path.end(), [&](std::uint32_t a, std::uint32_t b) {
        return snapshot_.threads[a].os_id < snapshot_.threads[b].os_id;
      });
      end = {ChainEnd::cycle, *lowest};
    }
    for (auto thread = path.rbegin(); thread != path.rend(); ++thread) {
      places[*thread] = {true, false, end, ++steps};
    }
  }

  const WaitGraph& graph_;
  const Snapshot& snapshot_;
  std::vector<Target> targets_;         // by node
  std::vector<std::uint32_t> circles_;  // without threads: the first node of each
  GraphChains out_;
};

}  // namespace

std::vector<std::uint32_t> GraphChains::path(const WaitGraph& graph, std::uint32_t thread) const {
  std::vector<std::uint32_t> nodes;
  std::unordered_set<std::uint32_t> seen;  // it may lead into a circle
  for (std::uint32_t at = next[thread]; at != kNone && !graph.is_thread(at) && seen.insert(at).second; at = next[at]) {
    nodes.push_back(at);
  }
  return nodes;
}

GraphChains wait_chains(const WaitGraph& graph, std::span<const Outlook> threads) {
  return ChainFinder(graph, threads).take();
}

}  // namespace mixwalk
