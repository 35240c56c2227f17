#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mixwalk {

// Shares of other machines: \\server\share. Only the user may name one, never a target (see LocalImageFiles), and
// mixwalk only reads them. A machine may not answer, and then the system's own calls return after minutes. So all reads
// have a limit, and a machine that was silent once is not asked again by this process. Not frozen-safe.

// Whether this system opens such paths. Elsewhere, a share is a folder at which it is mounted.
inline constexpr bool kOpensShares = std::filesystem::path::preferred_separator == '\\';

// Whether the path is that of a share, or lies in one. A device of this machine (\\.\pipe\x, \\?\C:\x) is none.
bool is_on_share(std::string_view path) noexcept;

// How long a machine may be silent.
inline constexpr std::chrono::milliseconds kShareSilence{15'000};

// Decides whether a machine is silent, by looks at how much of the work is done. A clock alone cannot decide that: this
// machine may stand still, and the other one is not silent then.
class SilentLooks {
 public:
  // So many looks in a row without progress are the whole silence. The looks are this part of the limit apart.
  static constexpr int kLooks = 30;
  // `progress`: how often progress was reported so far. Returns whether the machine is silent.
  bool look(std::uint64_t progress) noexcept {
    looks_ = progress == progress_ ? looks_ + 1 : 0;
    progress_ = progress;
    return looks_ >= kLooks;
  }

 private:
  std::uint64_t progress_ = 0;
  int looks_ = 0;
};

// Reports that a part of the work is done. If the result is false, the work should end: nobody waits for it any more.
using ShareProgress = std::function<bool()>;

// Runs the work in a thread of its own, and waits for it as long as it reports progress within the limit. Returns false
// if it does not: the machine of `path` is then silent, and the work is not waited for. Returns false at once if the
// machine was silent before. The work must own all that it uses.
bool ask_share(std::string_view path, std::function<void(const ShareProgress&)> work,
               std::chrono::milliseconds silence = kShareSilence);

// A line for each machine that was silent, without a full stop.
std::vector<std::string> silent_shares();

// What is at a path.
enum class FolderState { there, missing, silent };  // silent: the machine of a share does not answer
FolderState folder_at(const std::string& path);

}  // namespace mixwalk
