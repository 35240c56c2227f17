#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "walker/store/record.h"
#include "walker/store/recording_reader.h"

namespace mixwalk {

// The records of a .mixwalk file one after the other, as its bytes come, and the end of each (docs/format.md). The
// content of the records is not read.
class RecordSequence {
 public:
  struct Next {
    enum class Kind : std::uint8_t {
      record,   // `record` is the next one
      more,     // the next one is not there as a whole
      end,      // there is none; cut() says why
      refused,  // the file is no recording; `why`
    };
    Kind kind = Kind::more;
    Record record;             // views the bytes
    std::size_t consumed = 0;  // of the bytes, by the record; the magic is a part of the header
    std::string_view why = {};  // one line, a literal
  };
  // `bytes`: those behind what was consumed. `is_all`: the file ends with them.
  Next next(std::string_view bytes, bool is_all);

  // At the end. Its bytes are not counted.
  const Cut& cut() const noexcept { return cut_; }

 private:
  bool has_header_ = false;
  Cut cut_{.kind = Cut::Kind::no_footer};
};

}  // namespace mixwalk
