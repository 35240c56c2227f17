#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "unmanaged/win/remote_memory.h"
#include "walker/model/snapshot.h"
#include "walker/suspended/group_capture.h"
#include "walker/suspended/raw_sample.h"
#include "walker/target/suspension/outside_thread.h"

namespace mixwalk {

struct NumberedThread {
  std::uint32_t os_id = 0;
  OutsideThread* thread = nullptr;
};

// Registers and stacks of threads of another process that were suspended together. The copies are kept until clear().
class OutsideMoments {
 public:
  static constexpr std::size_t kMaxThreads = 4096;  // in one moment

  // `process` needs PROCESS_VM_READ and PROCESS_QUERY_INFORMATION.
  explicit OutsideMoments(HANDLE process) noexcept : process_(process), stacks_(process) {}

  // Suspends as many of the threads together as one moment has room for, and keeps the copies. A thread that has ended,
  // was not suspended within a quarter of the deadline, or was not copied before the deadline, has no copy. Returns
  // false if the deadline passed before all suspended threads were copied.
  bool take(std::span<const NumberedThread> threads, std::uint32_t deadline_ms);

  // Copies the registers and the stack of a thread into `sample`. Returns false if there is no copy.
  bool give(std::uint32_t os_id, RawSample& sample) const;
  // The index in moments(), from 1 on, of the moment at which the thread was suspended; 0 if there is no copy.
  std::uint32_t moment_of(std::uint32_t os_id) const;
  const std::vector<Moment>& moments() const noexcept { return moments_; }

  void clear();

 private:
  struct Taken {
    const GroupMember* member = nullptr;
    std::uint32_t moment = 0;
  };
  struct Group {
    std::unique_ptr<std::byte[]> arena;  // the copies of the stacks
    std::vector<GroupMember> members;
  };

  const HANDLE process_;
  RemoteMemory stacks_;
  std::vector<Group> groups_;
  std::map<std::uint32_t, Taken> taken_;
  std::vector<Moment> moments_;
};

}  // namespace mixwalk
