#include "walker/hang/groups.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "walker/hang/function_ids.h"

namespace mixwalk {
namespace {

// The position of a verdict in the order in which a person wants to see them.
int rank(Verdict verdict) {
  constexpr Verdict kOrder[] = {Verdict::stuck, Verdict::spinning, Verdict::waiting, Verdict::unclear, Verdict::once,
                                Verdict::returned, Verdict::moved, Verdict::appeared, Verdict::gone, Verdict::idle};
  return static_cast<int>(std::ranges::find(kOrder, verdict) - std::begin(kOrder));
}

int rank(WaitState state) {
  constexpr WaitState kOrder[] = {WaitState::blocked, WaitState::calls, WaitState::signal, WaitState::outside,
                                  WaitState::unknown, WaitState::runs, WaitState::idle};
  return static_cast<int>(std::ranges::find(kOrder, state) - std::begin(kOrder));
}

}  // namespace

std::vector<StackGroup> stack_groups(std::span<const ThreadHistory> threads,
                                     std::span<const std::vector<std::vector<std::uint64_t>>> functions) {
  struct Key {
    int verdict, state;
    std::vector<std::uint64_t> stack;
    auto operator<=>(const Key&) const = default;
  };
  std::map<Key, StackGroup> groups;
  for (std::uint32_t i = 0; i < threads.size(); ++i) {
    const Sighting& last = threads[i].last();
    // The kind of wait only matters for verdicts that say little.
    const bool matters = threads[i].verdict == Verdict::once || threads[i].verdict == Verdict::waiting;
    const int state = matters ? rank(last.wait.state) : 0;
    StackGroup& group = groups[{rank(threads[i].verdict), state, functions[last.dump][last.thread]}];
    group.verdict = threads[i].verdict;
    group.threads.push_back(i);
  }
  std::vector<std::pair<std::pair<int, int>, StackGroup>> ordered;
  for (auto& [key, group] : groups) ordered.push_back({{key.verdict, key.state}, std::move(group)});
  std::ranges::stable_sort(ordered, [](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    if (a.second.threads.size() != b.second.threads.size()) return a.second.threads.size() > b.second.threads.size();
    return a.second.threads.front() < b.second.threads.front();
  });
  std::vector<StackGroup> out;
  for (auto& [order, group] : ordered) out.push_back(std::move(group));
  return out;
}

std::vector<TreeNode> parallel_stacks(const Snapshot& dump, const std::vector<std::vector<std::uint64_t>>& functions) {
  struct Raw {
    TreeNode node;
    std::vector<std::uint32_t> callees;
  };
  std::vector<Raw> raw;
  std::vector<std::uint32_t> roots;
  struct Key {
    std::uint32_t parent;
    std::uint64_t function;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const noexcept {
      return static_cast<std::size_t>(key.function ^ key.parent * 0x9E37'79B9'7F4A'7C15u);
    }
  };
  std::unordered_map<Key, std::uint32_t, Hash> known;
  for (std::uint32_t t = 0; t < dump.threads.size(); ++t) {
    std::uint32_t at = TreeNode::kNone;
    for (std::size_t f = functions[t].size(); f-- > 0;) {
      const auto [found, added] = known.try_emplace({at, functions[t][f]}, static_cast<std::uint32_t>(raw.size()));
      if (added) {
        (at == TreeNode::kNone ? roots : raw[at].callees).push_back(found->second);
        raw.push_back({{.thread = t, .frame = static_cast<std::uint32_t>(f)}, {}});
      }
      at = found->second;
      ++raw[at].node.count;
    }
    if (at != TreeNode::kNone) ++raw[at].node.ends;
  }
  // Depth first, with the busiest callee first. Uses its own stack, since the target decides how deep its stacks are.
  const auto busiest_last = [&](std::vector<std::uint32_t>& nodes) {
    std::ranges::stable_sort(nodes, [&](std::uint32_t a, std::uint32_t b) {
      return raw[a].node.count != raw[b].node.count ? raw[a].node.count < raw[b].node.count : a > b;
    });
  };
  std::vector<TreeNode> tree;
  tree.reserve(raw.size());
  busiest_last(roots);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> todo;  // node, its parent in `tree`
  for (const std::uint32_t root : roots) todo.emplace_back(root, TreeNode::kNone);
  while (!todo.empty()) {
    const auto [from, parent] = todo.back();
    todo.pop_back();
    const auto at = static_cast<std::uint32_t>(tree.size());
    tree.push_back(raw[from].node);
    tree.back().parent = parent;
    busiest_last(raw[from].callees);
    for (const std::uint32_t callee : raw[from].callees) todo.emplace_back(callee, at);
  }
  return tree;
}

}  // namespace mixwalk
