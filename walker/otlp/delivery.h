#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "walker/otlp/back_off.h"
#include "walker/otlp/http_post.h"
#include "walker/otlp/pauses.h"
#include "walker/otlp/spool.h"

namespace mixwalk {

// Counts of requests by what happened to them, for the user.
struct DeliveryReport {
  std::size_t delivered = 0;  // files that the collector took
  std::size_t refused = 0;    // files that it will never take, and profiles that it rejected from others
  std::size_t lost = 0;       // requests that could not be kept
  std::size_t waiting = 0;    // files that are still in the spool
  std::string why_waiting;
  std::vector<std::string> lines;  // further messages; not printable yet
  std::size_t left_out = 0;        // how many lines were left out

  // Adds each line only once, and only the first few lines, because a collector may say the same for hours.
  void say(std::string line);
  void add(const DeliveryReport& other);
};

// Sends the files of a spool, oldest first. A file is removed only after an answer that confirms its arrival, so if
// that answer is lost, the file is sent again.
class Delivery {
 public:
  Delivery(const Spool& spool, HttpPost& post, Pauses& pauses, std::uint32_t seed)
      : spool_(spool), post_(post), pauses_(pauses), back_off_(seed) {}

  // Runs until no file is left that can be sent, and returns true, or until patience ends.
  bool run();
  const DeliveryReport& report() const noexcept { return report_; }

 private:
  // Returns false if patience has ended.
  bool send(const std::filesystem::path& file);
  bool pause(const std::string& why, std::optional<std::chrono::seconds> asked);

  void remove(const std::filesystem::path& file);
  void set_aside(const std::filesystem::path& file, const std::string& why);

  const Spool& spool_;
  HttpPost& post_;
  Pauses& pauses_;
  BackOff back_off_;
  DeliveryReport report_;
  std::set<std::filesystem::path> stuck_;  // files to be skipped: they cannot be read, removed or renamed
};

}  // namespace mixwalk
