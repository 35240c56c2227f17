#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "walker/model/snapshot.h"
#include "walker/target/target.h"

namespace mixwalk {

// Captures threads of a snapshot again, as long as they are where the snapshot found them. Not frozen-safe.
class WaitingThreads {
 public:
  // `target` must outlive this object, and must not list its threads anew as long as this object lives.
  explicit WaitingThreads(Target& target);

  // The thread's registers, and at most `max_bytes` of the words of its stack from Rsp to `end`. Returns an empty list
  // if the thread is no longer where its first frame is, or cannot be captured.
  std::vector<std::uint64_t> words_of(const Thread& thread, std::uint64_t end, std::uint64_t max_bytes);

 private:
  static constexpr std::size_t kStackBytes = 12 << 20;

  Target& target_;
  std::map<std::uint32_t, const TargetThread*> by_id_;
  std::unique_ptr<std::byte[]> stack_ = std::make_unique_for_overwrite<std::byte[]>(kStackBytes);
};

}  // namespace mixwalk
