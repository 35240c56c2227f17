#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "walker/hang/history.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// Threads whose stacks, by the functions of their frames, are the same. A thread's stack is that of the last dump that
// contains the thread.
struct StackGroup {
  std::vector<std::uint32_t> threads;  // indices into Findings::threads, ascending; not empty
  Verdict verdict = Verdict::once;     // the same for all of them

  bool operator==(const StackGroup&) const = default;
};

// Parallel stacks: the stacks of all threads of one dump, merged from their roots. Nodes with one caller and one callee
// are nodes like any other; the code that draws them may join them.
struct TreeNode {
  static constexpr std::uint32_t kNone = 0xFFFF'FFFF;

  std::uint32_t parent = kNone;  // the caller, less than the node's own index; kNone for a root
  // The first occurrence of the frame: indices into Snapshot::threads and Stack::frames.
  std::uint32_t thread = 0, frame = 0;
  std::uint32_t count = 0;  // the number of threads whose stack contains the node
  std::uint32_t ends = 0;   // the number of threads whose leaf is the node

  bool operator==(const TreeNode&) const = default;
};

// Groups the histories by verdict and WaitState, in the order in which they need attention, then by size, the largest
// group first. `functions`: function_ids() of each dump.
std::vector<StackGroup> stack_groups(std::span<const ThreadHistory> threads,
                                     std::span<const std::vector<std::vector<std::uint64_t>>> functions);

// The nodes depth first: a node's callees come after the node, and those of more threads come first.
std::vector<TreeNode> parallel_stacks(const Snapshot& dump, const std::vector<std::vector<std::uint64_t>>& functions);

}  // namespace mixwalk
