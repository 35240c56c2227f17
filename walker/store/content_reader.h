#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "walker/model/recording.h"
#include "walker/store/layout.h"
#include "walker/store/table_room.h"

namespace mixwalk {

// Builds a recording from the content of records, checking everything. Each function returns why its record makes no
// sense (a literal; the reader cannot be used after that), or nothing.
class ContentReader {
 public:
  std::string_view read_header(std::string_view content);
  std::string_view read_chunk(std::string_view content);
  std::string_view read_footer(std::string_view content);

  // What was read so far, except for the samples that were cleared.
  const Recording& recording() const noexcept { return recording_; }
  // To be called when the samples were taken over: all samples of a long recording need too much memory.
  void clear_samples() noexcept;
  // What was read. duration_ns is at least the last sample's time.
  Recording take();

 private:
  Recording recording_;
  std::uint64_t last_time_ns_ = 0;     // of the samples that were cleared
  TableRoom room_;
  std::vector<std::uint32_t> depths_;  // of the nodes: how many frames to the root
};

}  // namespace mixwalk
