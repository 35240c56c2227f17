#include "walker/store/record_sequence.h"

namespace mixwalk {

RecordSequence::Next RecordSequence::next(std::string_view bytes, bool is_all) {
  using Kind = Next::Kind;
  Next next;
  const auto refused = [&](std::string_view why) {
    next.kind = Kind::refused;
    next.why = why;
    return next;
  };
  std::size_t magic = 0;
  if (!has_header_) {
    if (!bytes.starts_with(layout::kMagic)) {
      const bool begun = layout::kMagic.starts_with(bytes);
      if (begun && !is_all) return next;
      return refused(begun && !bytes.empty() ? "it ends within its header" : "it is no mixwalk recording");
    }
    magic = layout::kMagic.size();
    bytes.remove_prefix(magic);
  }
  next.kind = Kind::end;
  if (cut_.kind == Cut::Kind::none && !bytes.empty()) cut_.kind = Cut::Kind::trailing;
  if (cut_.kind != Cut::Kind::no_footer) return next;
  const Record record = bytes.empty() ? Record() : next_record(bytes);
  if (record.state == Record::State::torn && !is_all) {
    next.kind = Kind::more;
    return next;
  }
  if (record.state != Record::State::whole && !has_header_) {
    return refused(record.state == Record::State::torn ? "it ends within its header" : "its header is damaged");
  }
  if (record.state != Record::State::whole) {
    if (!bytes.empty()) {
      cut_.kind = record.state == Record::State::torn ? Cut::Kind::torn : Cut::Kind::damaged;
    }
    return next;
  }
  const bool is_header = record.kind == layout::File::header;
  if (!has_header_ && !is_header) return refused("it has no header");
  if (has_header_ && (is_header || record.kind == layout::File::magic)) return refused("it has two headers");
  has_header_ = true;
  if (record.kind == layout::File::chunk) ++cut_.chunks;
  if (record.kind == layout::File::footer) cut_.kind = Cut::Kind::none;
  next.kind = Kind::record;
  next.record = record;
  next.consumed = magic + record.size;
  return next;
}

}  // namespace mixwalk
