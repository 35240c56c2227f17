#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "walker/otlp/collector_url.h"

namespace mixwalk {

// Requests that a collector has not taken yet. Each is a file in a folder for that collector, within the spool's
// folder. Each file gets its final name only when it is complete; names sort by age. Files with other names are
// ignored. Several processes and threads may use a spool at once. Errors are one line.
class Spool {
 public:
  static constexpr std::uint64_t kMaxBytes = 256u << 20;
  // Larger than any request, since requests are split by their uncompressed size.
  static constexpr std::uint64_t kMaxFileBytes = 64u << 20;

  // Makes the folder, for this user alone (private_folder.h). The spool is not usable if error() is not empty.
  Spool(const std::filesystem::path& folder, const CollectorUrl& url,
        std::uint64_t max_bytes = kMaxBytes);

  const std::string& error() const noexcept { return error_; }
  const std::filesystem::path& folder() const noexcept { return folder_; }

  // Returns an empty text if the request is stored, otherwise the reason: there is no room, or the disk refused.
  std::string add(std::string_view request);
  // The files that wait, oldest first.
  std::vector<std::filesystem::path> waiting() const;
  // Returns an empty text if the file was read, otherwise the reason why not. `request` is empty if the file is too
  // large for a request.
  std::string read(const std::filesystem::path& file, std::string& request) const;
  std::string remove(const std::filesystem::path& file) const;
  // Keeps a file, but excludes it from sending: ".refused" is appended to its name.
  std::string set_aside(const std::filesystem::path& file) const;

  // The right to send. One process has it at a time. It ends with this object, or with the process that holds it.
  class Turn {
   public:
    virtual ~Turn() = default;
  };
  std::unique_ptr<Turn> take_turn() const;  // null if another process has the turn

 private:
  void forget_torn() const;

  std::filesystem::path folder_;
  const std::uint64_t max_bytes_;
  std::string error_;
  const std::uint32_t run_;  // distinguishes the files of several processes
  std::uint64_t last_ms_ = 0;
  std::uint32_t count_ = 0;
};

// This user's folder for the spool. Empty if the system names none.
std::filesystem::path default_spool_folder();

}  // namespace mixwalk
