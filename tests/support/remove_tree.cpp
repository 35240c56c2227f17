#include "tests/support/remove_tree.h"

#include <chrono>
#include <system_error>
#include <thread>
#include <vector>

namespace mixwalk {
namespace {

namespace fs = std::filesystem;

void remove_once(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(fs::symlink_status(path, error))) {
    std::vector<fs::path> inside;
    for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error))
      inside.push_back(at->path());
    for (const fs::path& each : inside) remove_once(each);
  }
  fs::remove(path, error);
}

}  // namespace

bool remove_tree(const fs::path& path) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kPause{10};
  const auto end = Clock::now() + std::chrono::seconds(10);
  while (true) {
    remove_once(path);
    std::error_code error;
    if (fs::symlink_status(path, error).type() == fs::file_type::not_found) return true;
    if (Clock::now() >= end) return false;
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace mixwalk
