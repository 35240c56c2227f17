#include "unmanaged/minidump/mapped_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <utility>

namespace mixwalk {
namespace {

std::string text_of(int error) { return std::generic_category().message(error); }

class Descriptor {
 public:
  // The file is opened without blocking, because opening a pipe without a writer would wait for ever.
  explicit Descriptor(const std::string& path) : number_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  int get() const noexcept { return number_; }
  // The caller closes the number from now on.
  int release() noexcept { return std::exchange(number_, -1); }

 private:
  int number_;
};

// The files that are mapped now. The handler of SIGBUS reads this list, because the handler may access few things. More
// files than these can be mapped, but if one of the others is cut, the process ends.
struct Mapped {
  std::atomic<bool> taken{false};
  std::atomic<std::uintptr_t> begin{0};  // 0 if nothing is mapped
  std::atomic<std::size_t> bytes{0};
  std::atomic<bool> cut{false};
};
Mapped g_mapped[16];
std::uintptr_t g_page_bytes = 4096;

Mapped* find_mapped(std::uintptr_t address) noexcept {
  for (Mapped& mapped : g_mapped) {
    if (mapped.begin != 0 && address - mapped.begin < mapped.bytes) return &mapped;
  }
  return nullptr;
}

// The system sends SIGBUS for a page of a mapped file that lies behind the file's end, or that cannot be read. From
// that page on the mapping is replaced by zeros, and the instruction that read there is executed again.
void on_bus_error(int, siginfo_t* info, void*) {
  if (info->si_code <= 0) {  // another program sent the signal, so there is no instruction to execute again
    signal(SIGBUS, SIG_DFL);
    raise(SIGBUS);
    return;
  }
  const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
  if (Mapped* const mapped = find_mapped(at)) {
    const std::uintptr_t page = at & ~(g_page_bytes - 1);
    const std::size_t bytes = mapped->begin + mapped->bytes - page;
    mapped->cut = true;
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    if (mmap(reinterpret_cast<void*>(page), bytes, PROT_READ, kFlags, -1, 0) != MAP_FAILED) return;
  }
  signal(SIGBUS, SIG_DFL);  // the signal ends the process when the instruction is executed again
}

bool handle_bus_errors() noexcept {
  g_page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  struct sigaction action {};
  action.sa_sigaction = &on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  return sigaction(SIGBUS, &action, nullptr) == 0;
}

void remember(std::uintptr_t begin, std::size_t bytes) noexcept {
  static const bool handled = handle_bus_errors();
  if (!handled) return;
  for (Mapped& mapped : g_mapped) {
    if (mapped.taken.exchange(true)) continue;
    mapped.bytes = bytes;
    mapped.cut = false;
    mapped.begin = begin;
    return;
  }
}

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  Descriptor file(path);
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
  file_ = file.release();
  remember(reinterpret_cast<std::uintptr_t>(at), bytes);
}

MappedFile::~MappedFile() {
  if (bytes_.empty() || !content_.empty()) return;
  if (Mapped* const mapped = find_mapped(reinterpret_cast<std::uintptr_t>(bytes_.data()))) {
    mapped->begin = 0;
    mapped->taken = false;
  }
  munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  close(file_);
}

void MappedFile::read(std::uint64_t offset, void* into, std::size_t bytes) const noexcept {
  std::size_t done = 0;
  while (file_ >= 0 && done < bytes) {
    const ssize_t read = pread(file_, static_cast<char*>(into) + done, bytes - done, static_cast<off_t>(offset + done));
    if (read < 0 && errno == EINTR) continue;
    if (read <= 0) break;
    done += static_cast<std::size_t>(read);
  }
  // What a pread() does not give, because the file was cut, is read as zeros from the mapping.
  std::memcpy(static_cast<char*>(into) + done, bytes_.data() + offset + done, bytes - done);
}

bool MappedFile::cut() const noexcept {
  if (bytes_.empty() || !content_.empty()) return false;
  const Mapped* const mapped = find_mapped(reinterpret_cast<std::uintptr_t>(bytes_.data()));
  if (mapped != nullptr && mapped->cut) return true;
  // In the page that contains the new end, the part behind the end reads as zeros without a signal.
  struct stat status {};
  return fstat(file_, &status) == 0 && static_cast<std::size_t>(status.st_size) < bytes_.size();
}

}  // namespace mixwalk
