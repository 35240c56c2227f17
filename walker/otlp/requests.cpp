#include "walker/otlp/requests.h"

#include <span>

#include "walker/export/formats.h"
#include "walker/export/gzip_sink.h"
#include "walker/model/recording_slice.h"

namespace mixwalk {
namespace {

std::string gzipped(std::string_view bytes) {
  StringSink sink;
  GzipSink gzip(sink);
  gzip.write(bytes);
  gzip.finish();
  return std::move(sink.text);
}

}  // namespace

void for_each_request(const Recording& recording, std::size_t max_bytes,
                      const std::function<void(std::string request, std::size_t samples)>& take) {
  StringSink document;
  format_by_name("otlp")->make()->write(recording, document);
  const std::span<const Recording::Sample> samples(recording.samples);
  if (document.text.size() <= max_bytes || samples.size() < 2) {
    take(gzipped(document.text), samples.size());
    return;
  }
  document.text = {};
  const std::size_t half = samples.size() / 2;
  const std::uint64_t border_ns = samples[half].time_ns;
  const auto part = [&](std::span<const Recording::Sample> its, std::uint64_t begin_ns,
                        std::uint64_t end_ns) {
    for_each_request(recording_slice(recording, its, begin_ns, end_ns), max_bytes, take);
  };
  part(samples.first(half), 0, border_ns);
  part(samples.subspan(half), border_ns, recording.duration_ns);
}

}  // namespace mixwalk
