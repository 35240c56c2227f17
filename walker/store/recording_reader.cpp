#include "walker/store/recording_reader.h"

#include "walker/base/count_words.h"
#include "walker/store/content_reader.h"
#include "walker/store/record_sequence.h"

namespace mixwalk {
namespace {

ReadRecording refused(std::string error) { return {.recording = {}, .cut = {}, .error = error}; }

}  // namespace

std::string sentence(const Cut& cut) {
  const std::string left_out =
      count_words(cut.bytes, "byte") + (cut.bytes == 1 ? " is" : " are") + " left out";
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

std::string nonsense(layout::File kind, std::size_t chunks, std::string_view why) {
  if (why == layout::kWrittenLater) return std::string(why);
  const std::string what = kind == layout::File::header  ? "its header"
                           : kind == layout::File::chunk ? "chunk " + std::to_string(chunks)
                                                         : "its footer";
  return what + " makes no sense: " + std::string(why);
}

ReadRecording read_recording(std::string_view bytes) {
  using Kind = RecordSequence::Next::Kind;
  RecordSequence records;
  ContentReader reader;
  while (true) {
    const RecordSequence::Next next = records.next(bytes, true);
    bytes.remove_prefix(next.consumed);
    if (next.kind == Kind::refused) return refused(std::string(next.why));
    if (next.kind != Kind::record) break;
    std::string_view why;
    switch (next.record.kind) {
      case layout::File::header: why = reader.read_header(next.record.content); break;
      case layout::File::chunk: why = reader.read_chunk(next.record.content); break;
      case layout::File::footer: why = reader.read_footer(next.record.content); break;
      default: break;  // other kinds are those of a later mixwalk, and are skipped
    }
    if (!why.empty()) return refused(nonsense(next.record.kind, records.cut().chunks, why));
  }
  Cut cut = records.cut();
  cut.bytes = bytes.size();
  return {.recording = reader.take(), .cut = cut, .error = {}};
}

}  // namespace mixwalk
