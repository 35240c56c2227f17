#include "symbols/server/file_lock.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace mixwalk {
namespace {

class UnixFileLock final : public FileLock {
 public:
  explicit UnixFileLock(int file) : file_(file) {}
  ~UnixFileLock() override { close(file_); }

 private:
  int file_;
};

}  // namespace

// The lock belongs to the open file, not to the process, so that it also holds between threads.
FileLock::Result FileLock::try_lock(const std::filesystem::path& path, std::uint64_t byte,
                                    std::unique_ptr<FileLock>& lock) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file == -1) return Result::failed;
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<off_t>(byte);
  range.l_len = 1;
  if (fcntl(file, F_OFD_SETLK, &range) != 0) {
    const bool busy = errno == EAGAIN || errno == EACCES;
    close(file);
    return busy ? Result::busy : Result::failed;
  }
  lock = std::make_unique<UnixFileLock>(file);
  return Result::locked;
}

}  // namespace mixwalk
