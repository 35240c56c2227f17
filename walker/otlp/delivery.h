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

// What became of requests, for the user.
struct DeliveryReport {
  std::size_t delivered = 0;  // files that the collector took
  std::size_t refused = 0;    // files that it will never take, and what it rejected of others
  std::size_t lost = 0;       // requests that could not be kept
  std::size_t waiting = 0;    // files that are still in the spool
  std::string why_waiting;
  std::vector<std::string> lines;  // what else is to be said; not printable yet
  std::size_t left_out = 0;        // lines

  // Adds each line only once, and only the first few: a collector may say the same for hours.
  void say(std::string line);
  void add(const DeliveryReport& other);
};

// Sends what is in a spool, oldest first. A file is removed only after an answer that says that it arrived: if that
// answer gets lost, the file is sent again.
class Delivery {
 public:
  Delivery(const Spool& spool, HttpPost& post, Pauses& pauses, std::uint32_t seed)
      : spool_(spool), post_(post), pauses_(pauses), back_off_(seed) {}

  // Runs until nothing is left that can be sent (true), or until patience ends.
  bool run();
  const DeliveryReport& report() const noexcept { return report_; }

 private:
  // Returns false if patience ended.
  bool send(const std::filesystem::path& file);
  bool pause(const std::string& why, std::optional<std::chrono::seconds> asked);

  void remove(const std::filesystem::path& file);
  void set_aside(const std::filesystem::path& file, const std::string& why);

  const Spool& spool_;
  HttpPost& post_;
  Pauses& pauses_;
  BackOff back_off_;
  DeliveryReport report_;
  std::set<std::filesystem::path> stuck_;  // done with, but they cannot be moved out of the way
};

}  // namespace mixwalk
