#include "walker/cli/options/formats.h"

#include <algorithm>

#include "unmanaged/ascii_lower.h"
#include "walker/export/chrome_trace.h"
#include "walker/export/collapsed.h"
#include "walker/export/dump_format.h"
#include "walker/export/firefox_profile.h"
#include "walker/export/json.h"
#include "walker/export/otlp.h"
#include "walker/export/pprof.h"
#include "walker/export/speedscope.h"
#include "walker/export/store_exporter.h"
#include "walker/export/text.h"
#include "walker/report/html_exporter.h"

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

template <bool annotate>
std::unique_ptr<RecordingExporter> make_collapsed() {
  return std::make_unique<CollapsedExporter>(CollapsedExporter::Options{.annotate = annotate});
}

std::unique_ptr<RecordingExporter> make_otlp() {
  static DiskImageFiles disk;
  static LocalImageFiles images(disk);
  return std::make_unique<OtlpExporter>(images);
}

// A text in Chromium has 2^29 characters at most, and the viewers hold a file more than once in
// memory. speedscope does not open 631 MB.
constexpr std::uint64_t kBrowserBytes = 400'000'000;

}  // namespace

std::span<const RecordingFormat> recording_formats() {
  static const std::vector<RecordingFormat> formats = {
      {Format::chrome_trace, "chrome-trace", {".trace.json"}, &make<ChromeTraceExporter>},
      {Format::collapsed, "collapsed", {".collapsed", ".folded"}, &make_collapsed<true>},
      {Format::collapsed_plain, "collapsed-plain", {}, &make_collapsed<false>},
      {Format::firefox, "firefox", {".firefox.json"}, &make<FirefoxProfileExporter>, nullptr, false,
       kBrowserBytes},
      {Format::html, "html", {".html", ".htm"}, &make<HtmlExporter>, &html_refusal},
      {Format::json, "json", {".json"}, &make_json, &one_dump_refusal, true},
      {Format::mixwalk, "mixwalk", {".mixwalk"}, &make<StoreExporter>},
      {Format::otlp, "otlp", {".otlp"}, &make_otlp},
      {Format::pprof, "pprof", {".pb.gz", ".pprof"}, &make<PprofExporter>},
      {Format::speedscope, "speedscope", {".speedscope.json"}, &make<SpeedscopeExporter>, nullptr, false, kBrowserBytes},
      {Format::text, "text", {".txt", ".log"}, &make_text, &series_refusal, true},
  };
  return formats;
}

const RecordingFormat& format_of(Format id) { return recording_formats()[static_cast<std::size_t>(id)]; }

bool is_binary(Format id) noexcept {
  return id == Format::mixwalk || id == Format::otlp || id == Format::pprof;
}

const RecordingFormat* format_by_name(std::string_view name) {
  const auto formats = recording_formats();
  const auto found = std::ranges::find(formats, name, &RecordingFormat::name);
  return found == formats.end() ? nullptr : &*found;
}

const RecordingFormat* format_by_path(std::string_view path) {
  const std::string lower_case = ascii_lower(path);
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

std::string_view extension_of(std::string_view path) {
  path.remove_prefix(path.find_last_of("/\\:") + 1);  // 0 if there is none
  const std::size_t dot = path.find_last_of('.');
  return dot == std::string_view::npos || dot == 0 || dot + 1 == path.size() ? std::string_view() : path.substr(dot);
}

std::string extension_words(std::span<const std::string> formats) {
  std::vector<std::string_view> all;
  for (const std::string& name : formats) {
    const RecordingFormat* const format = format_by_name(name);
    if (format != nullptr && !format->extensions.empty()) all.push_back(format->extensions.front());
  }
  std::string text;
  for (const std::string_view& extension : all) {
    const bool last = &extension == &all.back();
    text.append(text.empty() ? "" : last ? " or " : ", ").append(extension);
  }
  return text;
}

}  // namespace mixwalk
