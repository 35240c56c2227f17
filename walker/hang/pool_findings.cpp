// The finding about a thread pool whose workers all wait, so that queued work is not done.

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "symbols/demangle/managed_name.h"
#include "walker/base/count_words.h"
#include "walker/hang/finding_texts.h"
#include "walker/hang/frame_names.h"
#include "walker/hang/process_findings.h"
#include "walker/hang/wait_rules.h"
#include "walker/hang/waits.h"

namespace mixwalk {
namespace {

// In a pool of fewer workers, it means little that all of them are busy.
constexpr std::size_t kMinWorkers = 3;
// How many methods of queued work are named.
constexpr std::size_t kItems = 3;

std::string item_words(const ThreadPoolState& pool) {
  std::string text;
  std::size_t count = 0;
  for (const ThreadPoolState::Item& item : pool.items) {
    if (item.method.empty()) continue;
    if (count++ == kItems) return text + ", …";
    text += text.empty() ? "" : ", ";
    if (item.count > 1) text += std::to_string(item.count) + " × ";
    text += clipped(managed_name(item.method));
  }
  return text;
}

// For each node, whether the needs that decide about it lead to the pool.
std::vector<bool> lead_to_pool(const WaitGraph& graph, const GraphChains& waits) {
  enum class Known : std::uint8_t { no, on_path, leads, leads_not };
  std::vector<Known> known(graph.size());
  known[graph.pool_node()] = Known::leads;
  std::vector<std::uint32_t> path;
  for (std::uint32_t start = 0; start < graph.size(); ++start) {
    std::uint32_t at = start;
    for (; at != WaitGraph::kNone && known[at] == Known::no; at = waits.next[at]) {
      known[at] = Known::on_path;
      path.push_back(at);
    }
    const bool leads = at != WaitGraph::kNone && known[at] == Known::leads;
    for (; !path.empty(); path.pop_back()) known[path.back()] = leads ? Known::leads : Known::leads_not;
  }
  std::vector<bool> out(graph.size());
  for (std::uint32_t node = 0; node < graph.size(); ++node) out[node] = known[node] == Known::leads;
  return out;
}

// The wait with the words of its rule, unless all these threads have the same words.
Wait common_wait(const ProcessFindings& process, std::span<const std::uint32_t> threads) {
  Wait wait = process.threads[threads.front()].last().wait;
  const bool same = std::ranges::all_of(
      threads, [&](std::uint32_t index) { return process.threads[index].last().wait.words == wait.words; });
  if (!same && !wait.rule.empty()) wait.words = find_wait_rule(wait.rule)->words;
  return wait;
}

}  // namespace

PoolNumbers pool_numbers(const ProcessFindings& process, const GraphChains& waits) {
  const ThreadPoolState& pool = process.snapshot.pool;
  const std::vector<bool> leads = lead_to_pool(process.graph, waits);
  const std::span<const std::uint32_t> workers = process.graph.workers();
  const auto waiting = std::ranges::count_if(workers, [&](std::uint32_t worker) { return leads[worker]; });
  return {.queued = pool.queued, .waiting = static_cast<std::size_t>(waiting), .first_items = item_words(pool)};
}

// Workers that wait for a time, for other programs or for signals look the same in a program that runs its loops as
// pool items and in a program whose pool is starved. The difference is that only a starved pool gets further workers,
// and that work is in its queue.
void find_starved_pool(ProcessFindings& process) {
  if (std::ranges::find(process.findings, FindingKind::starved_pool, &Finding::kind) != process.findings.end()) return;
  const std::int64_t queued = process.snapshot.pool.queued;
  if (queued == 0) return;
  // A pool that may have more threads at work gets one at once.
  if (process.snapshot.pool.working >= 0 && process.snapshot.pool.working < process.snapshot.pool.goal) return;
  const bool lasts = std::ranges::all_of(process.numbers, [&](std::uint32_t dump) {
    return process.dumps[dump].pool.queued != 0;
  });
  std::vector<std::uint32_t> workers;
  std::map<std::string_view, std::size_t> rules;
  std::size_t without_progress = 0;
  bool grows = false;
  for (const std::uint32_t place : process.graph.workers()) {
    const std::uint32_t index = process.by_place[place];
    const ThreadHistory& worker = process.threads[index];
    const bool progresses = process.progressing.contains(index);
    const Wait& wait = worker.last().wait;
    const bool blocked = wait.state != WaitState::runs && wait.state != WaitState::unknown;
    // The pool adds a worker once or twice a second as long as it is starved. The newest one was in no dump before.
    const bool is_new = worker.verdict == Verdict::appeared && blocked;
    const bool waits_for_unclear_task = worker.verdict == Verdict::unclear && worker.last().task_path != 0;
    const bool waits = process.does_not_run(worker) || is_new || waits_for_unclear_task;
    if (!waits || wait.state == WaitState::idle) return;
    without_progress += !is_new && !progresses;
    grows = grows || worker.sightings.front().dump != process.numbers.front();
    workers.push_back(index);
    ++rules[wait.rule];
  }
  if (workers.empty()) return;
  const PoolNumbers numbers = pool_numbers(process, wait_chains(process.graph, process.outlooks()));
  const bool proven = queued > 0 && numbers.waiting == workers.size();
  const auto most = std::ranges::max_element(rules, {}, &decltype(rules)::value_type::second);
  if (!proven && (without_progress < kMinWorkers || most->second * 2 <= workers.size())) return;
  std::stable_partition(workers.begin(), workers.end(), [&](std::uint32_t index) {
    return process.threads[index].last().wait.rule == most->first;
  });
  const Wait wait = common_wait(process, std::span(workers).first(most->second));
  const bool sleeps = process.sleeps(process.threads[workers.front()]);
  const bool starved = wait.state == WaitState::blocked || wait.state == WaitState::calls || grows ||
                       (queued > 0 && lasts && !sleeps);
  FindingText text = numbers.waiting != 0 && starved
                         ? starved_queue_text(workers.size(), numbers)
                         : starved_pool_text(workers.size(), most->second, wait, starved);
  if (queued > 0 && numbers.waiting == 0) {
    text.details.back() = count_words(static_cast<std::uint64_t>(queued), "work item") +
                          (queued == 1 ? " is queued." : " are queued.") + " No worker is left for this work.";
  }
  Finding out = process.finding(FindingKind::starved_pool,
                                process.several && starved ? Severity::stuck : Severity::note, std::move(text));
  process.put_threads(out, workers);
  std::ranges::sort(out.behind);
  process.add(std::move(out));
}

}  // namespace mixwalk
