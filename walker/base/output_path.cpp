#include "walker/base/output_path.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "walker/base/errno_text.h"
#include "walker/base/unfinished_output.h"

namespace mixwalk {

namespace fs = std::filesystem;

namespace {

std::atomic<char*> g_unfinished = nullptr;

// The file that is meant by a path such as /dev/stdout, among those that this process has open. To open such a path
// anew would forget where the last program stopped writing, and a socket cannot be opened anew.
std::optional<int> own_descriptor(const fs::path& path) {
  std::string_view text = path.native();
  if (text == "/dev/stdout") return STDOUT_FILENO;
  if (text == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!text.starts_with(folder)) continue;
    text.remove_prefix(folder.size());
    int number = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc() && end == text.data() + text.size() && number >= 0) return number;
  }
  return std::nullopt;
}

OpenedOutput failed(int error) { return {.file = nullptr, .why = errno_text(error)}; }

// Whether the path still leads to this open file, which another mixwalk may have renamed before the lock was taken.
bool is_still_there(int file, const fs::path& path) {
  struct stat opened{}, named{};
  return fstat(file, &opened) == 0 && stat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

}  // namespace

bool is_written_through(const fs::path& path) {
  std::error_code ignored;
  const fs::file_type type = fs::symlink_status(path, ignored).type();
  return type != fs::file_type::not_found && type != fs::file_type::regular;
}

OpenedOutput open_output(const fs::path& path, bool) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_CLOEXEC;
  constexpr mode_t kMode = 0666;
  if (const auto own = own_descriptor(path)) {
    const int copy = fcntl(*own, F_DUPFD_CLOEXEC, 0);
    return copy == -1 ? failed(errno) : OpenedOutput{.file = fdopen(copy, "wb"), .why = {}};
  }
  while (true) {
    auto kind = OpenedOutput::Kind::created;
    int file = open(path.c_str(), kFlags | O_EXCL, kMode);
    if (file == -1 && errno == EEXIST) {
      kind = OpenedOutput::Kind::existing;
      file = open(path.c_str(), kFlags, kMode);
    }
    if (file == -1) return failed(errno);
    struct stat facts{};
    if (fstat(file, &facts) == 0 && !S_ISREG(facts.st_mode)) return {.file = fdopen(file, "wb"), .why = {}};
    if (flock(file, LOCK_EX | LOCK_NB) == -1 && errno == EWOULDBLOCK) {
      close(file);
      return {.file = nullptr, .why = "another program is writing it"};
    }
    if (is_still_there(file, path)) return {.file = fdopen(file, "wb"), .kind = kind, .why = {}};
    close(file);
  }
}

void remove_at_end(std::FILE*, const fs::path& path, bool remove) {
  if (remove) {
    // Texts are never freed, because a handler of a signal may be reading one.
    static auto& texts = *new std::deque<std::string>;
    g_unfinished = texts.emplace_back(path.string()).data();
  } else if (const char* const last = g_unfinished; last != nullptr && path == last) {
    g_unfinished = nullptr;
  }
}

bool empty(std::FILE* file) { return ftruncate(fileno(file), 0) == 0; }

bool is_same_file(const fs::path& one, const fs::path& other) {
  std::error_code ignored;
  return fs::equivalent(one, other, ignored);
}

const char* unfinished_output() noexcept { return g_unfinished; }

}  // namespace mixwalk
