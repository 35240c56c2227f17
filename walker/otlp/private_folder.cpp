#include "walker/otlp/private_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "walker/base/errno_text.h"

namespace mixwalk {

std::string make_private_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder.parent_path(), error);
  if (error) return error.message();
  if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) return errno_text();
  // The opened folder is checked, not the name, because another folder may get the name meanwhile.
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return errno == ELOOP || errno == ENOTDIR ? "it is no folder" : errno_text();
  struct stat its {};
  std::string problem;
  if (::fstat(fd, &its) != 0) {
    problem = errno_text();
  } else if (its.st_uid != ::geteuid()) {
    problem = "it belongs to another user";
  } else if ((its.st_mode & (S_IRWXG | S_IRWXO)) != 0 && ::fchmod(fd, S_IRWXU) != 0) {
    problem = errno_text();
  }
  ::close(fd);
  return problem;
}

}  // namespace mixwalk
