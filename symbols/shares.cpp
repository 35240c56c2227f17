#include "symbols/shares.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>

#include "symbols/image_files.h"
#include "unmanaged/ascii_lower.h"
#include "unmanaged/detached_thread.h"

namespace mixwalk {
namespace {

// The machines that were silent.
struct Silent {
  std::mutex lock;
  std::set<std::string> machines;  // "\\server", in lower case
};
Silent& silent() {
  static Silent all;
  return all;
}

std::string machine_of(std::string_view path) {
  return "\\\\" + ascii_lower(path.substr(2, path.find_first_of("\\/", 2) - 2));
}

bool is_known_silent(std::string_view path) {
  const std::lock_guard guard(silent().lock);
  return silent().machines.contains(machine_of(path));
}

// The work, as the thread that does it and the one that waits share it.
struct Work {
  std::mutex lock;
  std::condition_variable changed;
  std::uint64_t progress = 0;  // how often it was reported
  bool done = false, given_up = false;
};

}  // namespace

bool is_on_share(std::string_view path) noexcept {
  if (path.size() < 2 || !is_separator(path[0]) || !is_separator(path[1])) return false;
  const std::size_t end = path.find_first_of("\\/", 2);
  if (end == path.npos || end + 1 == path.size() || is_separator(path[end + 1])) return false;
  const std::string_view machine = path.substr(2, end - 2);
  return !machine.empty() && machine != "." && machine != "?";
}

bool ask_share(std::string_view path, std::function<void(const ShareProgress&)> work,
               std::chrono::milliseconds silence) {
  if (is_known_silent(path)) return false;
  const auto shared = std::make_shared<Work>();
  const auto run = [shared, work = std::move(work)] {
    work([&] {
      const std::lock_guard guard(shared->lock);
      ++shared->progress;
      return !shared->given_up;
    });
    const std::lock_guard guard(shared->lock);
    shared->done = true;
    shared->changed.notify_one();
  };
  if (!run_detached(run)) return false;
  std::unique_lock lock(shared->lock);
  SilentLooks looks;
  do {
    shared->changed.wait_for(lock, std::chrono::nanoseconds(silence) / SilentLooks::kLooks,
                             [&] { return shared->done; });
    if (shared->done) return true;
  } while (!looks.look(shared->progress));
  shared->given_up = true;
  const std::lock_guard guard(silent().lock);
  silent().machines.insert(machine_of(path));
  return false;
}

std::vector<std::string> silent_shares() {
  const std::lock_guard guard(silent().lock);
  std::vector<std::string> lines;
  for (const std::string& machine : silent().machines) {
    lines.push_back(machine + " did not answer within " + std::to_string(kShareSilence.count() / 1000) +
                    " s, and was not asked again; name a folder of this machine instead");
  }
  return lines;
}

FolderState folder_at(const std::string& path) {
  const auto look = [](const std::string& at) {
    std::error_code ignored;
    try {
      return std::filesystem::is_directory(std::filesystem::path(std::u8string(at.begin(), at.end())), ignored);
    } catch (const std::exception&) {  // no UTF-8
      return false;
    }
  };
  const auto state = [](bool found) { return found ? FolderState::there : FolderState::missing; };
  if (!is_on_share(path)) return state(look(path));
  const auto found = std::make_shared<bool>(false);
  if (ask_share(path, [=](const ShareProgress&) { *found = look(path); })) return state(*found);
  return is_known_silent(path) ? FolderState::silent : FolderState::missing;
}

}  // namespace mixwalk
