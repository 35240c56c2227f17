#include "walker/hang/lock_graph.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace mixwalk {
namespace {

constexpr std::uint32_t kNone = LockLink::kNone;

class Graph {
 public:
  explicit Graph(const Snapshot& snapshot) : snapshot_(snapshot) {
    const auto threads = static_cast<std::uint32_t>(snapshot.threads.size());
    for (std::uint32_t i = 0; i < threads; ++i) by_id_.try_emplace(snapshot.threads[i].os_id, i);
    links_.resize(threads);
    for (std::uint32_t i = 0; i < snapshot.locks.size(); ++i) add(i);
  }

  std::vector<LockLink>& links() { return links_; }

  std::vector<LockChain> chains() const {
    std::vector<Place> places(links_.size());
    for (std::uint32_t start = 0; start < links_.size(); ++start) {
      if (links_[start].lock != kNone && !places[start].known) follow(start, places);
    }
    std::map<End, LockChain> chains;
    std::map<End, std::uint32_t> first;  // the thread with the greatest distance from the end
    for (std::uint32_t i = 0; i < links_.size(); ++i) {
      if (links_[i].lock == kNone) continue;
      chains[places[i].end].waiters.push_back(i);
      const auto [at, added] = first.try_emplace(places[i].end, i);
      if (!added && places[i].steps > places[at->second].steps) at->second = i;
    }
    std::vector<LockChain> out;
    for (auto& [end, chain] : chains) {
      chain.end = end.first;
      for (std::uint32_t at = end.first == ChainEnd::cycle ? end.second : first[end];;) {
        chain.links.push_back(links_[at]);
        const std::uint32_t next = links_[at].owner;
        if (next == kNone || links_[next].lock == kNone || (end.first == ChainEnd::cycle && next == end.second)) break;
        at = next;
      }
      if (chain.end == ChainEnd::thread) chain.holder = end.second;
      out.push_back(std::move(chain));
    }
    std::ranges::stable_sort(out, [](const LockChain& a, const LockChain& b) {
      const bool first_cycle = a.end == ChainEnd::cycle, second_cycle = b.end == ChainEnd::cycle;
      return first_cycle != second_cycle ? first_cycle : a.waiters.size() > b.waiters.size();
    });
    return out;
  }

 private:
  // Identifies the end of a chain: the first thread of a cycle, the thread at the end, or otherwise the lock.
  using End = std::pair<ChainEnd, std::uint32_t>;
  struct Place {
    bool known = false, on_path = false;
    End end{};
    std::uint32_t steps = 0;
  };

  std::uint32_t index(std::uint32_t os_id) const {
    const auto found = os_id == 0 ? by_id_.end() : by_id_.find(os_id);
    return found == by_id_.end() ? kNone : found->second;
  }

  void add(std::uint32_t number) {
    const Lock& lock = snapshot_.locks[number];
    if (lock.is_free()) return;  // the waiters are about to get the lock
    const std::uint32_t owner = index(lock.owner);
    for (const LockWaiter& waiter : lock.waiters) {
      const std::uint32_t thread = index(waiter.os_id);
      if (waiter.pulse || thread == kNone || links_[thread].lock != kNone) continue;
      if (thread == owner && can_enter_again(lock.kind)) continue;
      links_[thread] = {thread, number, owner};
    }
  }

  void follow(std::uint32_t start, std::vector<Place>& places) const {
    std::vector<std::uint32_t> path;
    std::uint32_t at = start;
    while (at != kNone && links_[at].lock != kNone && !places[at].known && !places[at].on_path) {
      places[at].on_path = true;
      path.push_back(at);
      at = links_[at].owner;
    }
    End end{};
    std::uint32_t steps = 0;
    if (at == kNone) {
      const std::uint32_t lock = links_[path.back()].lock;
      end = {snapshot_.locks[lock].owner != 0 ? ChainEnd::gone : ChainEnd::nobody, lock};
    } else if (links_[at].lock == kNone) {
      end = {ChainEnd::thread, at};
    } else if (places[at].known) {
      end = places[at].end;
      steps = places[at].steps;
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

  const Snapshot& snapshot_;
  std::unordered_map<std::uint32_t, std::uint32_t> by_id_;
  std::vector<LockLink> links_;  // indexed like Snapshot::threads
};

}  // namespace

LockGraph lock_graph(const Snapshot& snapshot) {
  Graph graph(snapshot);
  std::vector<LockChain> chains = graph.chains();
  return {.links = std::move(graph.links()), .chains = std::move(chains)};
}

}  // namespace mixwalk
