#pragma once

#include <windows.h>

#include <atomic>
#include <cstdint>

#include "unmanaged/win/unique_handle.h"

namespace mixwalk {

// Which allocations of mixwalk_starved.dll fail: plain memory, shared between the DLL in the target
// and the test. An allocation is a malloc, of which operator new is made, or a system call that makes
// something.
struct StarveRecord {
  std::atomic<std::uint64_t> first, last;    // the numbers of those that fail; first 0: none does
  std::atomic<std::uint64_t> count;          // allocations since the test set this to 0
  std::atomic<std::uint64_t> failed;         // of them
  std::atomic<std::uint32_t> spoil_last_error;  // not 0: every malloc sets the last error to it
};

// The record of one process, made by the test before it attaches, or by the DLL.
class StarvePage {
 public:
  explicit StarvePage(DWORD process_id);
  ~StarvePage();
  StarvePage(const StarvePage&) = delete;
  StarvePage& operator=(const StarvePage&) = delete;

  // Null: the memory could not be had.
  StarveRecord* get() const noexcept { return record_; }
  StarveRecord* operator->() const noexcept { return record_; }

 private:
  UniqueHandle section_;
  StarveRecord* record_ = nullptr;
};

}  // namespace mixwalk
