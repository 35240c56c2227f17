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
#include "walker/export/text.h"
#include "walker/report/html.h"
#include "walker/store/recording_writer.h"

namespace mixwalk {
namespace {

template <bool (*write)(const ShownRecording&, ByteSink&)>
bool write_shown(const Recording& recording, const ShowOptions&, ByteSink& sink) {
  return write(recording, sink);
}

template <bool annotate>
bool write_folded(const Recording& recording, const ShowOptions&, ByteSink& sink) {
  return write_collapsed(recording, sink, {.annotate = annotate});
}

bool write_html(const Recording& recording, const ShowOptions& options, ByteSink& sink) {
  return write_html_recording(ShownRecording(recording, !options.filter.all), options, sink);
}

bool write_dumps_html(std::span<const Snapshot> dumps, const ShowOptions& options, ByteSink& sink) {
  return write_html_dumps(dumps, options, sink);
}

bool write_mixwalk(const Recording& recording, const ShowOptions&, ByteSink& sink) {
  return write_store(recording, sink);
}

bool write_otlp_file(const Recording& recording, const ShowOptions&, ByteSink& sink) {
  static DiskImageFiles disk;
  static LocalImageFiles images(disk);
  return write_otlp(recording, images, sink);
}

bool write_dump_json(std::span<const Snapshot> dumps, const ShowOptions& options, ByteSink& sink) {
  return write_json(dumps.front(), options.filter, sink);  // there is one: one_dump_refusal()
}

bool write_dumps_text(std::span<const Snapshot> dumps, const ShowOptions& options, ByteSink& sink) {
  return std::ranges::all_of(dumps, [&](const Snapshot& dump) {
    return (&dump == &dumps.front() || sink.write("\n")) && write_text(dump, options, sink);
  });
}

// A text in Chromium has 2^29 characters at most, and the viewers hold a file more than once in
// memory. speedscope does not open 631 MB.
constexpr std::uint64_t kBrowserBytes = 400'000'000;

}  // namespace

std::span<const RecordingFormat> recording_formats() {
  static const std::vector<RecordingFormat> formats = {
      {Format::chrome_trace, "chrome-trace", {".trace.json"}, &write_shown<write_chrome_trace>},
      {Format::collapsed, "collapsed", {".collapsed", ".folded"}, &write_folded<true>},
      {Format::collapsed_plain, "collapsed-plain", {}, &write_folded<false>},
      {.id = Format::firefox, .name = "firefox", .extensions = {".firefox.json"},
       .write = &write_shown<write_firefox_profile>, .browser_bytes = kBrowserBytes},
      {Format::html, "html", {".html", ".htm"}, &write_html, &write_dumps_html, &html_refusal},
      {Format::json, "json", {".json"}, nullptr, &write_dump_json, &one_dump_refusal},
      {Format::mixwalk, "mixwalk", {".mixwalk"}, &write_mixwalk},
      {Format::otlp, "otlp", {".otlp"}, &write_otlp_file},
      {Format::pprof, "pprof", {".pb.gz", ".pprof"}, &write_shown<write_pprof>},
      {.id = Format::speedscope, .name = "speedscope", .extensions = {".speedscope.json"},
       .write = &write_shown<write_speedscope>, .browser_bytes = kBrowserBytes},
      {Format::text, "text", {".txt", ".log"}, nullptr, &write_dumps_text, &series_refusal},
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
