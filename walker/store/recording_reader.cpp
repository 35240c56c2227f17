#include "walker/store/recording_reader.h"

#include <algorithm>

#include "walker/store/content_reader.h"
#include "walker/store/record.h"

namespace mixwalk {
namespace {

ReadRecording refused(std::string error) { return {.recording = {}, .cut = {}, .error = error}; }

Cut::Kind cut_kind(Record::State state) {
  return state == Record::State::torn ? Cut::Kind::torn : Cut::Kind::damaged;
}

std::string broken_chunk(std::size_t number, std::string_view why) {
  return "chunk " + std::to_string(number) + " makes no sense: " + std::string(why);
}

}  // namespace

std::string sentence(const Cut& cut) {
  const std::string left_out =
      std::to_string(cut.bytes) + (cut.bytes == 1 ? " byte is" : " bytes are") + " left out";
  switch (cut.kind) {
    case Cut::Kind::none: return {};
    case Cut::Kind::no_footer: return "the recording was interrupted: it has no end";
    case Cut::Kind::torn:
      return "the recording was interrupted: it ends within a chunk, and its last " + left_out;
    case Cut::Kind::damaged: return "the file is damaged: its last " + left_out;
    case Cut::Kind::trailing: return "the file goes on after its end: " + left_out;
  }
  return {};
}

ReadRecording read_recording(std::string_view bytes) {
  std::string_view rest = bytes;
  if (!rest.starts_with(layout::kMagic)) {
    const bool begun = !rest.empty() && layout::kMagic.starts_with(rest);
    return refused(begun ? "it ends within its header" : "it is no mixwalk recording");
  }
  rest.remove_prefix(layout::kMagic.size());
  const Record header = next_record(rest);
  if (header.state == Record::State::torn) return refused("it ends within its header");
  if (header.state == Record::State::damaged) return refused("its header is damaged");
  if (header.kind != layout::File::header) return refused("it has no header");
  rest.remove_prefix(header.size);

  ContentReader reader;
  if (const std::string_view why = reader.read_header(header.content); !why.empty()) {
    return refused("its header makes no sense: " + std::string(why));
  }
  Cut cut{.kind = Cut::Kind::no_footer};
  while (!rest.empty() && cut.kind == Cut::Kind::no_footer) {
    const Record record = next_record(rest);
    if (record.state != Record::State::whole) {
      cut.kind = cut_kind(record.state);
      break;
    }
    rest.remove_prefix(record.size);
    if (record.kind == layout::File::chunk) {
      ++cut.chunks;
      if (const std::string_view why = reader.read_chunk(record.content); !why.empty()) {
        return refused(broken_chunk(cut.chunks, why));
      }
    } else if (record.kind == layout::File::footer) {
      if (const std::string_view why = reader.read_footer(record.content); !why.empty()) {
        return refused("its footer makes no sense: " + std::string(why));
      }
      cut.kind = rest.empty() ? Cut::Kind::none : Cut::Kind::trailing;
    } else if (record.kind == layout::File::header || record.kind == layout::File::magic) {
      return refused("it has two headers");
    }  // Other kinds are those of a later mixwalk, and may be skipped.
  }
  cut.bytes = rest.size();
  return {.recording = reader.take(), .cut = cut, .error = {}};
}

}  // namespace mixwalk
