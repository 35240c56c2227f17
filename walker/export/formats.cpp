#include "walker/export/formats.h"

#include <algorithm>

#include "walker/export/dump_format.h"
#include "walker/export/json.h"
#include "walker/export/text.h"
#include "walker/store/store_exporter.h"

namespace mixwalk {
namespace {

template <class Exporter>
std::unique_ptr<RecordingExporter> make() {
  return std::make_unique<Exporter>();
}

std::unique_ptr<RecordingExporter> make_json() {
  return std::make_unique<DumpExporter>(std::make_unique<JsonExporter>(FrameFilter{}));
}

std::unique_ptr<RecordingExporter> make_text() {
  return std::make_unique<DumpExporter>(std::make_unique<TextExporter>(TextExporter::Options{}));
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::span<const RecordingFormat> recording_formats() {
  static const std::vector<RecordingFormat> formats = {
      {"json", {".json"}, &make_json, &dump_refusal},
      {"mixwalk", {".mixwalk"}, &make<StoreExporter>},
      {"text", {".txt"}, &make_text, &dump_refusal},
  };
  return formats;
}

const RecordingFormat* format_by_name(std::string_view name) {
  const auto formats = recording_formats();
  const auto found = std::ranges::find(formats, name, &RecordingFormat::name);
  return found == formats.end() ? nullptr : &*found;
}

const RecordingFormat* format_by_path(std::string_view path) {
  std::string lower_case(path);
  std::ranges::transform(lower_case, lower_case.begin(), lower);
  const RecordingFormat* best = nullptr;
  std::size_t longest = 0;
  for (const RecordingFormat& format : recording_formats()) {
    for (const std::string_view extension : format.extensions) {
      if (extension.size() > longest && lower_case.ends_with(extension)) {
        best = &format;
        longest = extension.size();
      }
    }
  }
  return best;
}

}  // namespace mixwalk
