// Findings about deadlocks: circles of threads, locks, tasks, contexts and the thread pool.

#include <algorithm>
#include <set>
#include <utility>

#include "walker/hang/finding_texts.h"
#include "walker/hang/finding_words.h"
#include "walker/hang/process_findings.h"
#include "walker/hang/task_words.h"

namespace mixwalk {
namespace {

// The nodes of the circle that are no threads, in their order.
std::vector<std::uint32_t> circle_of(const ProcessFindings& process, const GraphChains& waits, const WaitChain& chain) {
  if (chain.end == ChainEnd::tasks) return chain.circle;
  std::vector<std::uint32_t> nodes;
  for (const WaitLink& link : chain.links) {
    const std::vector<std::uint32_t> path = waits.path(process.graph, link.thread);
    nodes.insert(nodes.end(), path.begin(), path.end());
  }
  return nodes;
}

bool has(const ProcessFindings& process, const std::vector<std::uint32_t>& nodes, WaitNode::Kind kind) {
  return std::ranges::any_of(nodes, [&](std::uint32_t node) { return process.graph.node(node).kind == kind; });
}

// The task of SemaphoreSlim.WaitAsync is not counted beside the method that awaits it.
std::size_t count_tasks(const ProcessFindings& process, const std::vector<std::uint32_t>& nodes) {
  return static_cast<std::size_t>(std::ranges::count_if(nodes, [&](std::uint32_t number) {
    const WaitNode node = process.graph.node(number);
    return node.kind == WaitNode::Kind::task && process.snapshot.tasks[node.index].kind != TaskKind::semaphore;
  }));
}

// The thread that serves the context of a continuation in the circle.
const Thread& server_of(const ProcessFindings& process, const GraphChains& waits, const WaitChain& chain) {
  const auto serves = [&](const WaitLink& link) {
    const std::uint32_t last = waits.path(process.graph, link.thread).back();
    return process.graph.node(last).kind == WaitNode::Kind::context;
  };
  const auto link = std::ranges::find_if(chain.links, serves);
  return process.snapshot.threads[link == chain.links.end() ? chain.links.front().thread : link->owner];
}

// A deadlock of the pool is one of all its workers.
void pool_deadlock(ProcessFindings& process, const GraphChains& waits, const WaitChain& chain) {
  const std::span<const std::uint32_t> workers = process.graph.workers();
  PoolNumbers numbers = pool_numbers(process, waits);
  numbers.waiting = workers.size();
  Finding out = process.finding(FindingKind::starved_pool, Severity::deadlock,
                                deadlocked_pool_text(workers.size(), numbers));
  std::set<std::uint32_t> shown(workers.begin(), workers.end());
  for (const std::uint32_t worker : workers) {
    if (!waits.links[worker].waits()) continue;
    if (out.threads.size() < kShownThreads) {
      out.threads.push_back(process.waiter(waits, waits.links[worker]));
    } else {
      out.behind.push_back(process.by_place[worker]);
    }
  }
  for (const WaitLink& link : chain.links) {
    if (shown.insert(link.thread).second) out.threads.push_back(process.waiter(waits, link));
  }
  for (const std::uint32_t place : chain.waiters) {
    if (!shown.contains(place)) out.behind.push_back(process.by_place[place]);
  }
  std::ranges::sort(out.behind);
  if (!out.behind.empty()) out.details.push_back(behind_words(out.behind.size()));
  process.add(std::move(out));
}

// `circle`: nodes of which each needs the next one. `open`: by node, the semaphores that may have other holders.
void unclear_circle(ProcessFindings& process, std::vector<std::uint32_t> circle, const std::vector<bool>& open) {
  const WaitGraph& graph = process.graph;
  const auto os_id = [&](std::uint32_t node) {
    return graph.is_thread(node) ? process.snapshot.threads[node].os_id : WaitGraph::kNone;
  };
  std::rotate(circle.begin(), std::ranges::min_element(circle, {}, os_id), circle.end());
  const auto semaphore = std::ranges::find_if(circle, [&](std::uint32_t node) { return open[node]; });
  if (semaphore == circle.end()) return;
  std::vector<std::uint32_t> indices;
  // Circles with tasks are left to find_tasks().
  for (std::size_t i = 0; i < circle.size(); i += 2) {
    if (i + 1 == circle.size() || !graph.is_thread(circle[i])) return;
    if (graph.node(circle[i + 1]).kind != WaitNode::Kind::lock) return;
    const std::uint32_t index = process.by_place[circle[i]];
    const bool left = process.covered.contains(index) || process.progressing.contains(index);
    if (left || !process.does_not_run(process.threads[index])) return;
    indices.push_back(index);
  }
  Finding out = process.finding(
      FindingKind::chain, Severity::note,
      unclear_circle_text(indices.size(), process.snapshot.locks[graph.node(*semaphore).index]));
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const std::uint32_t lock = graph.node(circle[2 * i + 1]).index;
    const Thread& holder = process.snapshot.threads[circle[(2 * i + 2) % circle.size()]];
    out.threads.push_back(process.part(indices[i], waiter_words(process.snapshot.locks[lock], &holder)));
    out.threads.back().waits_for = lock;
    if (process.several) process.threads[indices[i]].verdict = Verdict::unclear;
  }
  process.add(std::move(out));
}

}  // namespace

void find_deadlock(ProcessFindings& process, const GraphChains& waits, const WaitChain& chain) {
  const std::vector<std::uint32_t> nodes = circle_of(process, waits, chain);
  const bool tasks = has(process, nodes, WaitNode::Kind::task);
  if (has(process, nodes, WaitNode::Kind::pool)) {
    pool_deadlock(process, waits, chain);
    return;
  }
  const bool context = has(process, nodes, WaitNode::Kind::context) && !chain.links.empty();
  std::vector<FindingThread> threads;
  for (const WaitLink& link : chain.links) threads.push_back(process.waiter(waits, link));
  Finding out = process.finding(
      context ? FindingKind::context_deadlock
      : tasks ? FindingKind::async_cycle
              : FindingKind::deadlock,
      Severity::deadlock,
      context ? context_deadlock_text(threads.size(), server_of(process, waits, chain), threads.front().words)
      : tasks ? async_cycle_text(threads.size(), std::max<std::size_t>(1, count_tasks(process, nodes)),
                                 has(process, nodes, WaitNode::Kind::lock))
              : deadlock_text(threads.size()));
  // The title has said all of it.
  if (context && threads.size() == 1 && process.graph.node(nodes.front()).kind == WaitNode::Kind::task) {
    threads.front().words = "waits for " + task_words(process.snapshot.tasks[process.graph.node(nodes.front()).index]);
  }
  if (tasks) std::ranges::move(step_words(process.graph, nodes), std::back_inserter(out.details));
  out.threads = std::move(threads);
  for (std::size_t i = 0; i < chain.links.size(); ++i) {
    // The lock for which the thread before it waits.
    const WaitLink& before = chain.links[i == 0 ? chain.links.size() - 1 : i - 1];
    if (process.holds_it_itself(waits, before)) out.threads[i].holds = {before.lock};
  }
  std::set<std::uint32_t> shown;
  for (const FindingThread& part : out.threads) shown.insert(part.thread);
  for (const std::uint32_t place : chain.waiters) {
    const std::uint32_t index = process.by_place[place];
    if (!shown.contains(index)) out.behind.push_back(index);
  }
  if (chain.links.empty() && !out.behind.empty()) {
    // No thread is in the circle, so those that wait for it are shown.
    process.put_threads(out, std::exchange(out.behind, {}));
  } else if (!out.behind.empty()) {
    std::ranges::sort(out.behind);
    out.details.push_back(behind_words(out.behind.size()));
  }
  process.add(std::move(out));
}

// A semaphore whose known holders wait in the circle may have others, if it is not proven how many can enter it.
void find_unclear_circles(ProcessFindings& process) {
  const WaitGraph& graph = process.graph;
  std::vector<bool> by_itself(graph.size()), open(graph.size());
  for (std::uint32_t node = 0; node < graph.size(); ++node) {
    open[node] = graph.node(node).kind == WaitNode::Kind::lock && graph.way_out(node) == WayOut::unknown &&
                 !graph.needs(node).empty();
    by_itself[node] = graph.way_out(node) != WayOut::none && !open[node];
  }
  const std::vector<std::uint32_t> order = order_of_going_on(graph, by_itself);
  const auto stands = [&](std::uint32_t node) { return order[node] == WaitGraph::kNone; };
  std::vector<std::uint32_t> start_of(graph.size(), WaitGraph::kNone);
  for (std::uint32_t start = 0; start < process.snapshot.threads.size(); ++start) {
    std::uint32_t at = start;
    std::vector<std::uint32_t> path;
    while (stands(at) && start_of[at] == WaitGraph::kNone) {
      start_of[at] = start;
      path.push_back(at);
      at = *std::ranges::find_if(graph.needs(at), stands);  // what stands needs something that stands
    }
    if (path.empty() || start_of[at] != start) continue;
    unclear_circle(process, {std::ranges::find(path, at), path.end()}, open);
  }
}

}  // namespace mixwalk
