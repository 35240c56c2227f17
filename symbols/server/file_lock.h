#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

namespace mixwalk {

// A lock between processes: one byte of a file, which only one holder has at a time, also among threads. The system
// releases it when the process ends, however it ends, so a killed process locks nobody out. The file stays empty.
class FileLock {
 public:
  enum class Result { locked, busy, failed };

  // Tries once. `byte` is the byte's offset, less than 2^62. If the result is `locked`, `lock` has it until it is
  // destroyed. If it is `failed`, the file cannot be opened for writing.
  static Result try_lock(const std::filesystem::path& path, std::uint64_t byte, std::unique_ptr<FileLock>& lock);
  virtual ~FileLock() = default;
};

}  // namespace mixwalk
