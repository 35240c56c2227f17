#pragma once

#include <string>
#include <string_view>

namespace mixwalk {

// The kinds of files that mixwalk reads, and which command takes which kind. Pure.

enum class FileKind {
  dump,       // .mixwalk: a dump, or a series of dumps
  recording,  // .mixwalk: samples over time
  minidump,   // .dmp
  json,       // a dump in JSON
  other,      // none of these, or a damaged one
};

// The kind of a file by its first bytes.
FileKind file_kind(std::string_view bytes);

// Why a command does not take a file of this kind, and which commands do, in one line without a full stop: "it is a
// recording, which report does not take: convert, symbolise and compare do". Empty if the command takes such files, and
// for FileKind::other. `command`: "report".
std::string kind_refusal(std::string_view command, FileKind kind);

// The same for a file of FileKind::other, by its first bytes: what it is, as far as a user can do something about it,
// and what the command takes: "it is a text file, and convert takes .mixwalk files".
std::string other_file_refusal(std::string_view command, std::string_view bytes);

}  // namespace mixwalk
