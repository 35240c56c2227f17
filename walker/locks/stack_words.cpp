#include "walker/locks/stack_words.h"

#include <algorithm>

#include "unmanaged/user_address.h"
#include "walker/target/process_block.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kMaxWordsBytes = 2 << 20, kWordsPieceBytes = 64 << 10;

}  // namespace

StackWords::StackWords(const Target& target) : target_(target) {
  for (const TargetThread& thread : target.threads()) tebs_[thread.os_id] = thread.teb;
}

std::vector<std::uint64_t> StackWords::of(const Thread& thread, std::uint64_t end, std::uint64_t begin) const {
  const auto teb = tebs_.find(thread.os_id);
  if (teb == tebs_.end() || thread.stack.frames.empty()) return {};
  const StackLimits stack = stack_limits(target_.memory(), teb->second);
  std::uint64_t at = (std::max(begin, thread.stack.frames.front().stack_pointer) + 7) & ~7ull;
  if (!stack.contains(at)) return {};
  end = std::min({end == 0 ? stack.base : end, stack.base, at + kMaxWordsBytes});
  std::vector<std::uint64_t> found, piece(kWordsPieceBytes / 8);
  while (at < end) {
    const auto wanted = static_cast<std::size_t>(std::min(kWordsPieceBytes, end - at));
    const std::size_t bytes = target_.memory().read_up_to(at, piece.data(), wanted);
    for (std::size_t i = 0; i < bytes / 8; ++i) {
      const std::uint64_t word = piece[i];
      if (word % 8 == 0 && is_user_address(word) && !stack.contains(word)) found.push_back(word);
    }
    if (bytes < wanted) break;
    at += wanted;
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace mixwalk
