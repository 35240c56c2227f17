#include "walker/cli/file_kind.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <span>
#include <vector>

#include "unmanaged/minidump/file_kind.h"
#include "walker/store/content_reader.h"
#include "walker/store/layout.h"
#include "walker/store/record_sequence.h"

namespace mixwalk {
namespace {

struct KindRow {
  FileKind kind;
  const char* words;
  const char* files;  // all files of the kind; a text that another row has is not said twice
  std::initializer_list<std::string_view> commands;  // that take it
};

constexpr const char* kStored = ".mixwalk files";
const KindRow kKinds[] = {
    {FileKind::dump, "a dump in a .mixwalk file", kStored, {"convert", "symbolise", "compare", "report"}},
    {FileKind::recording, "a recording", kStored, {"convert", "symbolise", "compare"}},
    {FileKind::minidump, "a minidump (.dmp)", "minidumps (.dmp)", {"dump", "compare", "report"}},
    {FileKind::json, "a dump in JSON", "dumps in JSON (mixwalk dump -f json)", {"compare", "report"}},
};

bool takes(std::string_view command, const KindRow& row) {
  return std::ranges::find(row.commands, command) != row.commands.end();
}

// "convert, symbolise and compare"
std::string words_of(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view& word : words) {
    if (&word != &words.front()) text += &word == &words.back() ? " and " : ", ";
    text += word;
  }
  return text;
}

std::string taken_files(std::string_view command) {
  std::vector<std::string_view> files;
  for (const KindRow& row : kKinds) {
    if (takes(command, row) && std::ranges::find(files, row.files) == files.end()) files.emplace_back(row.files);
  }
  return words_of(files);
}

// Files that people have beside those of mixwalk, by a text near their beginning.
struct ForeignRow {
  std::string_view bytes;
  bool first;  // the file begins with it
  const char* words;
};
constexpr ForeignRow kForeign[] = {
    {"\"mixwalk-hang\"", false, "it has findings of mixwalk compare, not a dump"},
    {"www.speedscope.app", false, "it is a profile for speedscope"},
    {"{", true, "it is JSON, but no dump of mixwalk"},
    {"<!doctype html", true, "it is a page for a browser"},
    {"Nettrace", true, "it is a trace of dotnet-trace"},
    {"Microsoft C/C++ MSF", true, "it is a PDB"},
    {"MZ", true, "it is a program or a DLL"},
};

// What the file is, without a full stop.
std::string foreign_words(std::string_view bytes) {
  for (const ForeignRow& row : kForeign) {
    if (row.first ? bytes.starts_with(row.bytes) : bytes.find(row.bytes) != std::string_view::npos) return row.words;
  }
  switch (file_kind(std::as_bytes(std::span(bytes.data(), bytes.size())))) {
    case MinidumpError::empty: return "it is empty";
    case MinidumpError::archive: return "it is compressed: unpack it, and give the file inside";
    case MinidumpError::kernel_dump: return "it is a dump of the Windows kernel, not of a process";
    case MinidumpError::elf_core: return "it is a program or a core dump of Linux";
    case MinidumpError::text: return "it is a text file";
    default: return "it is of no kind that mixwalk reads";
  }
}

constexpr std::size_t kFirstBytes = 1024;

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
  constexpr std::string_view kJsonDump = "\"mixwalk-dump\"";
  if (bytes.starts_with("MDMP")) return FileKind::minidump;
  if (bytes.starts_with(layout::kMagic)) return stored_kind(bytes);
  return bytes.substr(0, kFirstBytes).find(kJsonDump) != std::string_view::npos ? FileKind::json : FileKind::other;
}

std::string kind_refusal(std::string_view command, FileKind kind) {
  const auto* const row = std::ranges::find(kKinds, kind, &KindRow::kind);
  if (row == std::end(kKinds) || takes(command, *row)) return {};
  return "it is " + std::string(row->words) + ", which " + std::string(command) +
         " does not take: " + words_of(row->commands) + " do";
}

std::string other_file_refusal(std::string_view command, std::string_view bytes) {
  if (!bytes.empty() && layout::kMagic.starts_with(bytes)) return "it is a .mixwalk file that ends within its header";
  return foreign_words(bytes.substr(0, kFirstBytes)) + "; " + std::string(command) + " takes " + taken_files(command);
}

}  // namespace mixwalk
