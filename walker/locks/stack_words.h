#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "walker/model/snapshot.h"
#include "walker/target/target.h"

namespace mixwalk {

// The words of threads' stacks, as the target's memory has them. In contrast to WaitingThreads, no thread is suspended,
// so a thread that runs may have moved meanwhile. Not frozen-safe.
class StackWords {
 public:
  // `target` must outlive this object, and must not list its threads anew as long as this object lives.
  explicit StackWords(const Target& target);

  // The different words that may be addresses of objects, sorted: from the thread's first frame, or from `begin`
  // if that is behind it, to `end`, or to the stack's base if `end` is 0. At most some number of words, the leaf's
  // first.
  std::vector<std::uint64_t> of(const Thread& thread, std::uint64_t end = 0, std::uint64_t begin = 0) const;

 private:
  const Target& target_;
  std::map<std::uint32_t, std::uint64_t> tebs_;  // by the thread's id
};

}  // namespace mixwalk
