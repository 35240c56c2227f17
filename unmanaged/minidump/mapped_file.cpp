#include "unmanaged/minidump/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace mixwalk {
namespace {

std::string text_of(int error) { return std::generic_category().message(error); }

class Descriptor {
 public:
  // Not blocking: a pipe without a writer would keep us for ever.
  explicit Descriptor(const std::string& path) : number_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  int get() const noexcept { return number_; }

 private:
  int number_;
};

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  const Descriptor file(path);
  struct stat status {};
  if (file.get() < 0 || fstat(file.get(), &status) != 0) {
    error_ = text_of(errno);
    return;
  }
  if (S_ISDIR(status.st_mode)) {
    error_ = text_of(EISDIR);
    return;
  }
  if (!S_ISREG(status.st_mode)) {
    error_ = "not a file";
    return;
  }
  if (status.st_size == 0) return;
  const auto bytes = static_cast<std::size_t>(status.st_size);
  void* const at = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (at == MAP_FAILED) {
    error_ = text_of(errno);
    return;
  }
  bytes_ = {static_cast<const std::byte*>(at), bytes};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace mixwalk
