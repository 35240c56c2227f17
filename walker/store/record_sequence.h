#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "walker/store/record.h"
#include "walker/store/recording_reader.h"

namespace mixwalk {

// Reads the records of a .mixwalk file one after another, as its bytes come, and recognises the end of the file
// (docs/format.md). The content of the records is not read.
class RecordSequence {
 public:
  struct Next {
    enum class Kind : std::uint8_t {
      record,   // `record` is the next record
      more,     // the next record is not complete yet
      end,      // there is no further record; cut() says why
      refused,  // the file is no recording; `why` says the reason
    };
    Kind kind = Kind::more;
    Record record;             // views the bytes
    std::size_t consumed = 0;  // how many bytes the record used; the magic is part of the header
    std::string_view why = {};  // one line, a literal
  };
  // `bytes`: the file's bytes after the ones that were consumed. `is_all`: whether the file ends with `bytes`.
  Next next(std::string_view bytes, bool is_all);

  // To be called at the end. Cut::bytes is not set.
  const Cut& cut() const noexcept { return cut_; }

 private:
  bool has_header_ = false;
  Cut cut_{.kind = Cut::Kind::no_footer};
};

}  // namespace mixwalk
