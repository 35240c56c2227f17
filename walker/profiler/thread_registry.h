#pragma once

#include <windows.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "unmanaged/win/unique_handle.h"

namespace mixwalk {

// Knows which CLR thread runs on which OS thread, from the profiler's callbacks. Not frozen-safe.
//
// A ThreadID is a pointer that the CLR frees after its ThreadDestroyed callback, so a thread that is being walked is
// claimed, and destroyed() waits for the end of the claim. (Folklore: without the claim, a program that starts and ends
// threads all the time was ended after 20 s by "Fatal error. 0x8013135E".) Once destroyed() has begun, the thread can
// no longer be claimed.
//
// No wait in this class is endless, since its callers are the program's threads. A wait for the end of claims lasts as
// long as the owners of the claims can still end them. If the lock does not become free, because the program has
// stopped a thread that holds it, the registry counts as lost: it knows no threads and gives no claim.
//
// If memory is missing, every function except destroyed() throws std::bad_alloc; the thread is then not known.
class ThreadRegistry {
 public:
  struct Entry {
    std::uint64_t clr_id = 0;
    std::string name;  // UTF-8
  };

  // `thread` is the thread that claims. destroyed() waits for a claim no longer than `patience_ms`, and not at all once
  // `thread` has ended. The caller keeps and closes the handle.
  void set_claimer(HANDLE thread) noexcept { claimer_ = thread; }
  void set_patience(DWORD patience_ms) noexcept { patience_ms_ = patience_ms; }

  // Called by the callbacks, on any thread of the target.
  void assigned(std::uint64_t clr_id, std::uint32_t os_id);
  void renamed(std::uint64_t clr_id, std::string name);
  void destroyed(std::uint64_t clr_id);

  // To be called around the one enumeration of an attach. Callbacks may already be coming in, and what they said about
  // a thread is newer than the enumeration.
  void begin_enumeration();
  // To be called before the CLR is asked about a thread of its list, because the claim keeps the thread from being
  // freed meanwhile. Returns false if the thread was destroyed since the enumeration began; the CLR must not be asked
  // about it then.
  bool claim_listed(std::uint64_t clr_id);
  void enumerated(std::uint64_t clr_id, std::uint32_t os_id);
  void end_enumeration() noexcept;

  // The CLR thread on this OS thread, claimed until release().
  std::optional<Entry> claim(std::uint32_t os_id);
  void release(std::uint64_t clr_id) noexcept;

  // The facts that are known about a thread. Getting them neither waits nor allocates, so this is for callers for which
  // other threads wait. `clr_id` is 0 if the thread is not known, or if another thread has the lock at this moment. A
  // name that is too long is left out.
  struct Glance {
    std::uint64_t clr_id = 0;
    std::uint32_t name_bytes = 0;
    std::array<char, 124> name;  // UTF-8
  };
  void glance(std::uint32_t os_id, Glance& into) noexcept;

  // The thread's name, UTF-8; empty if it has none, or if it is not known.
  std::string name_of(std::uint32_t os_id);
  // The ids of the OS threads that are known, ascending.
  std::vector<std::uint32_t> os_ids();
  // Waits up to `milliseconds` for a thread whose name begins with `prefix`. Returns nothing if there is none.
  std::optional<std::uint32_t> wait_for_name(const std::string& prefix, DWORD milliseconds);

 private:
  struct Known {
    std::uint32_t os_id = 0;
    std::string name;
    int claims = 0;
  };
  void remember_destroyed(std::uint64_t clr_id) noexcept;
  std::optional<std::uint32_t> named(const std::string& prefix) const;
  // Whether a claim can still end.
  bool claimer_lives() const noexcept;
  void wait_for_release() noexcept;
  void mark_inconsistent() noexcept;

  static constexpr DWORD kPatienceMs = 5'000;

  SRWLOCK lock_ = SRWLOCK_INIT;
  CONDITION_VARIABLE named_ = CONDITION_VARIABLE_INIT;
  std::unordered_map<std::uint64_t, Known> threads_;
  std::unordered_map<std::uint32_t, std::uint64_t> by_os_id_;
  std::unordered_set<std::uint64_t> destroyed_meanwhile_;
  bool enumerating_ = false;
  std::atomic<ULONGLONG> lost_since_{0};  // GetTickCount64
  std::atomic<int> looks_since_lost_{0};  // of all threads that wait
  std::atomic<bool> lost_{false};  // the lock did not become free: the data here may be wrong
  std::atomic<int> all_claims_{0};
  UniqueHandle claim_ended_{CreateEventW(nullptr, FALSE, FALSE, nullptr)};  // set while threads wait for that
  std::atomic<int> waiting_{0};                                             // how many do
  std::atomic<HANDLE> claimer_{nullptr};
  std::atomic<DWORD> patience_ms_{kPatienceMs};
};

// A claim that ends with its scope.
class ThreadClaim {
 public:
  ThreadClaim(ThreadRegistry& registry, std::uint32_t os_id)
      : registry_(registry), entry_(registry.claim(os_id)) {}
  ~ThreadClaim() {
    if (entry_ && !kept_) registry_.release(entry_->clr_id);
  }
  ThreadClaim(const ThreadClaim&) = delete;
  ThreadClaim& operator=(const ThreadClaim&) = delete;

  const std::optional<ThreadRegistry::Entry>& entry() const noexcept { return entry_; }
  // Makes the claim last for ever, because the probe's worker may walk the thread at any later moment.
  void keep() noexcept { kept_ = true; }

 private:
  ThreadRegistry& registry_;
  std::optional<ThreadRegistry::Entry> entry_;
  bool kept_ = false;
};

}  // namespace mixwalk
