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
      : tasks ? async_cycle_text(threads.size(), std::max<std::size_t>(1, count_tasks(process, nodes)))
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

}  // namespace mixwalk
