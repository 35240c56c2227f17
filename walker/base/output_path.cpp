#include "walker/base/output_path.h"

#include <system_error>

namespace mixwalk {

namespace fs = std::filesystem;

bool is_written_through(const fs::path& path) {
  std::error_code ignored;
  const fs::file_type type = fs::symlink_status(path, ignored).type();
  return type != fs::file_type::not_found && type != fs::file_type::regular;
}

std::FILE* open_for_writing(const fs::path& path) { return std::fopen(path.c_str(), "wbe"); }

bool is_same_file(const fs::path& one, const fs::path& other) {
  std::error_code ignored;
  return fs::equivalent(one, other, ignored);
}

}  // namespace mixwalk
