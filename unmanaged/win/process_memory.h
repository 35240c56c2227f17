#pragma once

#include <windows.h>

#include "unmanaged/step/memory_reader.h"

namespace mixwalk {

// Reads the memory of another process by ReadProcessMemory. It reads everything that can be read, and on Windows an
// access to a guard page removes its guard, so the kind of the memory must be known before (remote_memory.h). Does not
// own the handle, which has PROCESS_VM_READ. Any number of threads may use it.
class ProcessMemory final : public MemoryReader {
 public:
  explicit ProcessMemory(HANDLE process) noexcept : process_(process) {}

  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    SIZE_T done = 0;
    return ReadProcessMemory(process_, reinterpret_cast<const void*>(address), into, bytes, &done) &&
           done == bytes;
  }

 private:
  const HANDLE process_;
};

}  // namespace mixwalk
