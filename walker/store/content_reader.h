#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "walker/model/recording.h"
#include "walker/store/layout.h"
#include "walker/store/table_room.h"

namespace mixwalk {

// Builds a recording from the content of records, and checks everything. Each function returns nothing if its record is
// valid, otherwise the reason why it is not, as a literal. The reader cannot be used after such an error.
class ContentReader {
 public:
  std::string_view read_header(std::string_view content);
  std::string_view read_chunk(std::string_view content);
  std::string_view read_footer(std::string_view content);

  // The recording as far as it was read, without the samples that were cleared.
  const Recording& recording() const noexcept { return recording_; }
  // To be called when the caller has taken the samples, because all samples of a long recording need too much memory.
  void clear_samples() noexcept;
  // Returns what was read. duration_ns is at least the last sample's time.
  Recording take();

 private:
  Recording recording_;
  std::uint64_t last_time_ns_ = 0;     // the time of the last sample that was cleared
  TableRoom room_;
  std::vector<std::uint32_t> depths_;  // of each node: how many frames there are to the root
};

}  // namespace mixwalk
