#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "walker/suspended/raw_sample.h"

namespace mixwalk {

// The state of a thread at its last sample: its registers and every byte of its stack. A thread that is in exactly the
// same state has the same frames again, because the copy engine computes them from this state and from code, and code
// that is on a stack stays loaded. (Cycle counts are a weaker sign, since they may lag behind a thread that runs.)
//
// Comparing is frozen-safe, keeping is not.
class UnmovedStack {
 public:
  // Most threads that wait have 2 to 8 KiB of stack; a thread with more than this is walked anew.
  static constexpr std::size_t kMaxBytes = 64 << 10;

  bool is_at(const Registers& registers, const StackCopy& stack) const noexcept {
    const std::span<const std::byte> now = stack.bytes();
    return !stack_.empty() && begin_ == stack.begin() && stack_.size() == now.size() &&
           registers_ == registers && std::memcmp(stack_.data(), now.data(), now.size()) == 0;
  }

  // Keeps the state of a sample. The pointers in the sample's stack must not have been rewritten yet. The state of a
  // thread that is to be looked at again (in_dispatch) is not kept, since that sample does not count.
  void keep(const RawSample& sample) {
    const std::span<const std::byte> stack = sample.stack.bytes();
    stack_.clear();
    if (sample.in_dispatch || sample.stack.cut() || stack.size() > kMaxBytes) return;
    registers_ = sample.context;
    begin_ = sample.stack.begin();
    stack_.assign(stack.begin(), stack.end());
  }
  void forget() noexcept { stack_.clear(); }

 private:
  Registers registers_;
  std::uint64_t begin_ = 0;
  std::vector<std::byte> stack_;  // empty if the state is not known
};

}  // namespace mixwalk
