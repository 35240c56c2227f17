#include "walker/cli/file_kind.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <vector>

#include "walker/store/content_reader.h"
#include "walker/store/layout.h"
#include "walker/store/record_sequence.h"

namespace mixwalk {
namespace {

struct KindRow {
  FileKind kind;
  const char* words;
  std::initializer_list<std::string_view> commands;  // that take it
};

const KindRow kKinds[] = {
    {FileKind::dump, "a dump in a .mixwalk file", {"convert", "symbolise", "compare", "report"}},
    {FileKind::recording, "a recording", {"convert", "symbolise", "compare"}},
    {FileKind::minidump, "a minidump (.dmp)", {"dump", "compare", "report"}},
    {FileKind::json, "a dump in JSON", {"compare", "report"}},
};

// "convert, symbolise and compare"
std::string words_of(std::initializer_list<std::string_view> commands) {
  std::string text;
  for (const std::string_view& command : commands) {
    if (&command != commands.begin()) text += &command == commands.end() - 1 ? " and " : ", ";
    text += command;
  }
  return text;
}

FileKind stored_kind(std::string_view bytes) {
  RecordSequence records;
  const RecordSequence::Next next = records.next(bytes, true);
  if (next.kind != RecordSequence::Next::Kind::record || next.record.kind != layout::File::header) {
    return FileKind::other;
  }
  ContentReader reader;
  if (!reader.read_header(next.record.content).empty()) return FileKind::other;
  return reader.recording().event == SampleEvent::dump ? FileKind::dump : FileKind::recording;
}

}  // namespace

FileKind file_kind(std::string_view bytes) {
  // The name of the format is the first that mixwalk writes.
  constexpr std::size_t kFirstBytes = 1024;
  constexpr std::string_view kJsonDump = "\"mixwalk-dump\"";
  if (bytes.starts_with("MDMP")) return FileKind::minidump;
  if (bytes.starts_with(layout::kMagic)) return stored_kind(bytes);
  return bytes.substr(0, kFirstBytes).find(kJsonDump) != std::string_view::npos ? FileKind::json : FileKind::other;
}

std::string kind_refusal(std::string_view command, FileKind kind) {
  const auto* const row = std::ranges::find(kKinds, kind, &KindRow::kind);
  if (row == std::end(kKinds) || std::ranges::find(row->commands, command) != row->commands.end()) return {};
  return "it is " + std::string(row->words) + ", which " + std::string(command) +
         " does not take: " + words_of(row->commands) + " do";
}

}  // namespace mixwalk
