#pragma once

#include <windows.h>

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace mixwalk {

// Which CLR thread runs on which OS thread, from the profiler's callbacks. Not frozen-safe.
//
// A ThreadID is a pointer that the CLR frees after its ThreadDestroyed callback, so a thread that
// is being walked is claimed, and destroyed() waits for the claim to end. (Folklore: without that,
// thread churn ended the process in 20 s with "Fatal error. 0x8013135E".)
class ThreadRegistry {
 public:
  struct Entry {
    std::uint64_t clr_id = 0;
    std::string name;  // UTF-8
  };

  // From the callbacks, on any thread of the target.
  void assigned(std::uint64_t clr_id, std::uint32_t os_id);
  void renamed(std::uint64_t clr_id, std::string name);
  void destroyed(std::uint64_t clr_id);

  // Around the one enumeration of an attach: callbacks may already be coming in, and what they
  // said of a thread is newer than what the enumeration says.
  void begin_enumeration();
  void enumerated(std::uint64_t clr_id, std::uint32_t os_id);
  void end_enumeration();

  // The CLR thread on this OS thread, claimed until release().
  std::optional<Entry> claim(std::uint32_t os_id);
  void release(std::uint64_t clr_id);

  // UTF-8; empty: none, or not known.
  std::string name_of(std::uint32_t os_id);
  // The OS threads of all that are known, ascending.
  std::vector<std::uint32_t> os_ids();
  // A thread whose name begins so, waited for that long. Nothing: there is none.
  std::optional<std::uint32_t> wait_for_name(const std::string& prefix, DWORD milliseconds);

 private:
  struct Known {
    std::uint32_t os_id = 0;
    std::string name;
    int claims = 0;
  };
  std::optional<std::uint32_t> named(const std::string& prefix) const;

  SRWLOCK lock_ = SRWLOCK_INIT;
  CONDITION_VARIABLE released_ = CONDITION_VARIABLE_INIT;
  CONDITION_VARIABLE named_ = CONDITION_VARIABLE_INIT;
  std::unordered_map<std::uint64_t, Known> threads_;
  std::unordered_map<std::uint32_t, std::uint64_t> by_os_id_;
  std::unordered_set<std::uint64_t> destroyed_meanwhile_;
  bool enumerating_ = false;
};

// A claim by scope.
class ThreadClaim {
 public:
  ThreadClaim(ThreadRegistry& registry, std::uint32_t os_id)
      : registry_(registry), entry_(registry.claim(os_id)) {}
  ~ThreadClaim() {
    if (entry_) registry_.release(entry_->clr_id);
  }
  ThreadClaim(const ThreadClaim&) = delete;
  ThreadClaim& operator=(const ThreadClaim&) = delete;

  const std::optional<ThreadRegistry::Entry>& entry() const noexcept { return entry_; }

 private:
  ThreadRegistry& registry_;
  std::optional<ThreadRegistry::Entry> entry_;
};

}  // namespace mixwalk
