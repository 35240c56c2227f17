#pragma once

#include <windows.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "symbols/win/profiling_api.h"

namespace mixwalk {

// The code that a stack and its names depend on, as far as it may be unloaded while the program runs.
struct Footprint {
  std::vector<clr::FunctionID> functions;  // dynamic methods and stubs
  std::vector<clr::ModuleID> modules;      // of functions and of types in their names, each once
  std::vector<std::uint64_t> code;         // addresses of frames outside of every image
  bool unknown_code = false;               // some of that code has no function

  void clear() noexcept;
};

// Notes managed code that is unloaded: modules (ModuleUnloadStarted) and dynamic methods (DynamicMethodUnloaded). A
// FunctionID is a pointer, and the runtime soon uses the same address again, so what was learnt about unloaded code may
// be wrong for the code that is at the same address now.
//
// Code is not kept loaded for the time of a whole sample. A sample takes a mark before its thread is frozen. When the
// sample has its names, it asks whether any code that it depends on has been unloaded since the mark, and is taken
// again if so. Only a single question to the runtime keeps code loaded, because the memory that the question reads must
// not be freed meanwhile. Not frozen-safe.
class UnloadGate {
 public:
  struct Unload {
    clr::ModuleID module = 0;      // a module, or else
    clr::FunctionID function = 0;  // a dynamic method, and where its code was
    std::uint64_t begin = 0;
    std::uint64_t size = 0;  // 0 if it was never compiled
  };
  // If `begin` is 0, the place of the code is not known, so the range covers every address.
  static constexpr std::uint64_t kAnywhere = std::numeric_limits<std::uint64_t>::max();
  // A point in the sequence of unloadings: how many have been reported.
  struct Mark {
    std::uint64_t unloads = 0;
    std::uint64_t modules = 0;  // how many of the unloads are modules

    bool operator==(const Mark&) const = default;
  };

  // Takes no lock. An unloading that is being recorded at this moment may count as a later one.
  Mark mark() const noexcept {
    const std::uint64_t unloads = unloads_;
    return {unloads, modules_};
  }

  // Called by the callbacks, before the code is unloaded. Each waits a limited time for the current question. The limit
  // is needed because the runtime does not say which of its locks its caller holds, and the question may need one of
  // them.
  void module_unloading(clr::ModuleID module) noexcept;
  // The runtime calls in cooperative mode, so a GC waits until this returns.
  void method_unloading(clr::FunctionID function, std::uint64_t begin, std::uint64_t size) noexcept;

  // A question to the runtime. While this object lives, the code that the question is about is not unloaded. Converts
  // to false if the code was unloaded since the mark; the runtime must not be asked about it then.
  class Question {
   public:
    // For a question about managed code: no module is unloaded meanwhile.
    Question(UnloadGate& gate, const Mark& since) noexcept : lock_(gate.modules_in_use_) {
      AcquireSRWLockShared(&lock_);
      allowed_ = gate.modules_ == since.modules && !gate.lost_;
    }
    // For a question about the name of a dynamic method: no dynamic method is unloaded meanwhile. It is for calls that
    // neither wait nor trigger a GC.
    Question(UnloadGate& gate, const Mark& since, clr::FunctionID method) noexcept
        : lock_(gate.methods_in_use_) {
      AcquireSRWLockShared(&lock_);
      allowed_ = !gate.is_unloaded(method, since);
    }
    ~Question() { ReleaseSRWLockShared(&lock_); }
    Question(const Question&) = delete;
    Question& operator=(const Question&) = delete;
    explicit operator bool() const noexcept { return allowed_; }

   private:
    SRWLOCK& lock_;
    bool allowed_;
  };

  // Gives what has been unloaded since the mark, oldest first, and moves the mark to now. Returns false if more has
  // been unloaded than is remembered.
  bool read(Mark& mark, std::vector<Unload>& unloads);
  // Whether code on which the stack depends has been unloaded since the mark, or whether that is no longer known.
  bool hits(const Footprint& stack, const Mark& since) noexcept;

 private:
  // A GC frees thousands of dynamic methods at once. This many take 128 KiB.
  static constexpr std::size_t kRemembered = 4096;

  void remember(const Unload& unload) noexcept;
  bool is_unloaded(clr::FunctionID function, const Mark& since) noexcept;

  SRWLOCK modules_in_use_ = SRWLOCK_INIT;  // a question holds it shared
  SRWLOCK methods_in_use_ = SRWLOCK_INIT;
  std::atomic<std::uint64_t> modules_{0};

  SRWLOCK log_lock_ = SRWLOCK_INIT;
  std::atomic<std::uint64_t> unloads_{0};
  std::atomic<bool> lost_{false};  // an unload is missing in the log, because the lock of the log did not become free
  std::array<Unload, kRemembered> log_;  // the newest unloads, each at its number % kRemembered
};

}  // namespace mixwalk
