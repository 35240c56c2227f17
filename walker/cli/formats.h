#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "walker/export/recording_exporter.h"

namespace mixwalk {

// One format that a recording can be written in.
struct RecordingFormat {
  std::string_view name;                     // what --format takes
  std::vector<std::string_view> extensions;  // of files, in lower case, with the dot
  std::unique_ptr<RecordingExporter> (*make)();
  // Why the format cannot show this recording, in one line that follows the format's name; empty if the format can show
  // it. Is null if the format can show every recording.
  std::string (*refusal)(const Recording& recording) = nullptr;
};

// All of them, by name. A new format is one more line in formats.cpp.
std::span<const RecordingFormat> recording_formats();

// Returns null if there is no such format. The longest extension of a path counts: a.speedscope.json is not an a.json.
const RecordingFormat* format_by_name(std::string_view name);
const RecordingFormat* format_by_path(std::string_view path);

}  // namespace mixwalk
