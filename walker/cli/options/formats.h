#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "walker/base/byte_sink.h"
#include "walker/export/show_options.h"
#include "walker/model/recording.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

enum class Format {
  chrome_trace, collapsed, collapsed_plain, firefox, html, json, mixwalk, otlp, pprof, speedscope, text
};

// One format in which a recording or dumps can be written. The writers return false if the sink refused.
struct RecordingFormat {
  Format id;
  std::string_view name;                     // the value for --format
  std::vector<std::string_view> extensions;  // of files, in lower case, with the dot
  // Writes a recording. Null if the format shows dumps only.
  bool (*write)(const Recording& recording, const ShowOptions& options, ByteSink& sink);
  // Writes dumps, at least one, with all that a recording of them would not keep. If this is null, dumps are written as
  // a recording.
  bool (*write_dumps)(std::span<const Snapshot> dumps, const ShowOptions& options, ByteSink& sink) = nullptr;
  // Returns an empty text if the format can show this recording, otherwise the reason why not, in one line that follows
  // the format's name. If this is null, the format can show every recording.
  std::string (*refusal)(const Recording& recording) = nullptr;
  // How large a file a browser can open, if the format is for browsers and the file may be larger; else 0.
  std::uint64_t browser_bytes = 0;
};

// All formats, by name, in the order of Format.
std::span<const RecordingFormat> recording_formats();
const RecordingFormat& format_of(Format id);
// Whether its bytes are not for a terminal.
bool is_binary(Format id) noexcept;

// Both functions return null if there is no such format. If the extensions of several formats fit a path, the longest
// extension decides: the path a.speedscope.json means the format `speedscope`, not `json`.
const RecordingFormat* format_by_name(std::string_view name);
const RecordingFormat* format_by_path(std::string_view path);

// The extension of a file's name, with its dot: ".svg". Empty if the name has none, or nothing before it.
std::string_view extension_of(std::string_view path);
// The extensions of the formats with these names, one of each, in words: ".html, .json or .txt".
std::string extension_words(std::span<const std::string> formats);

}  // namespace mixwalk
