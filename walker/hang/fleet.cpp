#include "walker/hang/fleet.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "walker/hang/function_ids.h"

namespace mixwalk {
namespace {

// Whether the finding means trouble: a process with such a finding does not answer, or will soon stop answering. A
// contended lock, a running thread, or a wait of which little is known is no trouble.
bool is_trouble(const Finding& finding) {
  return finding.kind != FindingKind::spinning && finding.kind != FindingKind::contended &&
         finding.kind != FindingKind::unclear_task;
}

bool is_idle(const ThreadHistory& thread) { return thread.last().wait.state == WaitState::idle; }

}  // namespace

Fleet find_fleet(std::span<const Snapshot> dumps, const Findings& findings) {
  Fleet fleet;
  std::vector<std::uint32_t> last;  // for each process, its last dump
  std::vector<std::vector<std::vector<std::uint64_t>>> functions;
  for (std::uint32_t i = 0; i < findings.dumps.size(); ++i) {
    const std::uint32_t process = findings.dumps[i].process;
    if (process >= last.size()) last.resize(process + 1);
    last[process] = i;
    functions.push_back(function_ids(dumps[i]));
  }
  fleet.in_trouble.assign(last.size(), false);
  for (const Finding& finding : findings.findings) {
    if (!is_trouble(finding)) continue;
    for (const FindingThread& part : finding.threads) fleet.in_trouble[findings.dumps[part.dump].process] = true;
  }
  std::map<std::pair<std::string_view, std::vector<std::uint64_t>>, FleetGroup> groups;
  for (std::uint32_t i = 0; i < findings.threads.size(); ++i) {
    const ThreadHistory& thread = findings.threads[i];
    const Sighting& seen = thread.last();
    const std::uint32_t process = findings.dumps[seen.dump].process;
    if (seen.dump != last[process] || is_idle(thread)) continue;
    const std::vector<StackFrame>& frames = dumps[seen.dump].threads[seen.thread].stack.frames;
    std::vector<std::uint64_t> stack;
    for (std::size_t f = 0; f < frames.size(); ++f) {
      const bool is_compared = frames[f].kind == FrameKind::managed || frames[f].kind == FrameKind::stub;
      if (is_compared && !frames[f].name.empty()) stack.push_back(functions[seen.dump][seen.thread][f]);
    }
    if (stack.empty()) stack = functions[seen.dump][seen.thread];
    FleetGroup& group = groups[{seen.wait.rule, std::move(stack)}];
    group.threads.push_back(i);
    group.counts.resize(last.size());
    ++group.counts[process];
  }
  const bool some_without_trouble = std::ranges::find(fleet.in_trouble, false) != fleet.in_trouble.end();
  for (auto& [key, group] : groups) {
    group.only_in_trouble = some_without_trouble;
    for (std::size_t process = 0; process < group.counts.size(); ++process) {
      if (group.counts[process] == 0) continue;
      ++group.processes;
      group.only_in_trouble = group.only_in_trouble && fleet.in_trouble[process];
    }
    fleet.groups.push_back(std::move(group));
  }
  std::ranges::stable_sort(fleet.groups, [](const FleetGroup& a, const FleetGroup& b) {
    if (a.only_in_trouble != b.only_in_trouble) return a.only_in_trouble;
    if (a.processes != b.processes) return a.processes > b.processes;
    if (a.threads.size() != b.threads.size()) return a.threads.size() > b.threads.size();
    return a.threads.front() < b.threads.front();
  });
  return fleet;
}

}  // namespace mixwalk
