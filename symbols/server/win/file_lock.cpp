#include "symbols/server/file_lock.h"

#include <windows.h>

namespace mixwalk {
namespace {

class WindowsFileLock final : public FileLock {
 public:
  explicit WindowsFileLock(HANDLE file) : file_(file) {}
  ~WindowsFileLock() override { CloseHandle(file_); }

 private:
  HANDLE file_;
};

}  // namespace

FileLock::Result FileLock::try_lock(const std::filesystem::path& path, std::uint64_t byte,
                                    std::unique_ptr<FileLock>& lock) {
  const HANDLE file = CreateFileW(path.c_str(), GENERIC_READ | GENERIC_WRITE,
                                  FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr, OPEN_ALWAYS,
                                  FILE_ATTRIBUTE_NORMAL, nullptr);
  if (file == INVALID_HANDLE_VALUE) return Result::failed;
  OVERLAPPED at{};
  at.Offset = static_cast<DWORD>(byte);
  at.OffsetHigh = static_cast<DWORD>(byte >> 32);
  if (!LockFileEx(file, LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at)) {
    const DWORD error = GetLastError();
    CloseHandle(file);
    return error == ERROR_LOCK_VIOLATION || error == ERROR_IO_PENDING ? Result::busy : Result::failed;
  }
  lock = std::make_unique<WindowsFileLock>(file);
  return Result::locked;
}

}  // namespace mixwalk
