#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "walker/model/recording.h"
#include "walker/store/layout.h"

namespace mixwalk {

// The part that is missing at the end of a .mixwalk file. Everything before that is read.
struct Cut {
  enum class Kind : std::uint8_t {
    none,
    no_footer,  // the file ends between two records, because the recorder was ended
    torn,       // the file ends within a record
    damaged,    // a record's checksum is wrong; the records behind it are not read
    trailing,   // there are bytes after the end of the recording
  };
  Kind kind = Kind::none;
  std::size_t bytes = 0;   // how many bytes of the file were left out
  std::size_t chunks = 0;  // how many chunks were read

  bool operator==(const Cut&) const = default;
};

// A sentence for a person: "the file ends within a chunk: its last 812 bytes are left out". Empty if nothing is
// missing.
std::string sentence(const Cut& cut);

// "chunk 3 makes no sense: a stack is too deep". `chunks`: how many chunks of the file were read so far, this one among
// them.
std::string nonsense(layout::File kind, std::size_t chunks, std::string_view why);

struct ReadRecording {
  // Has no value if the file cannot be read; `error` then says why, in one line. All indices in the recording are
  // checked, its times never decrease, and its duration_ns is no less than the last sample's time.
  std::optional<Recording> recording;
  Cut cut;
  std::string error;
};

// Reads a .mixwalk file (docs/format.md), or any beginning of a file that contains the header. The bytes may come from
// any source. A whole record whose content is not valid, or exceeds the format's limits, is an error.
ReadRecording read_recording(std::string_view bytes);

}  // namespace mixwalk
