#include "walker/otlp/requests.h"

#include <cstring>
#include <random>
#include <span>

#include "walker/export/gzip_sink.h"
#include "walker/export/otlp.h"
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

OtlpProfileId random_id() {
  std::random_device random;
  OtlpProfileId id;
  for (std::size_t i = 0; i < id.size(); i += sizeof(std::uint32_t)) {
    const std::uint32_t word = random();
    std::memcpy(id.data() + i, &word, sizeof word);
  }
  return id;
}

}  // namespace

void for_each_request(const Recording& recording, const RequestContent& content,
                      std::size_t max_bytes,
                      const std::function<void(std::string request, std::size_t samples)>& take) {
  StringSink document;
  static DiskImageFiles disk;
  static LocalImageFiles images(disk);
  write_otlp(recording, images, document,
             {.attributes = content.attributes, .command_line = content.command_line, .profile_id = random_id()});
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
    for_each_request(recording_slice(recording, its, begin_ns, end_ns), content, max_bytes,
                     take);
  };
  part(samples.first(half), 0, border_ns);
  part(samples.subspan(half), border_ns, recording.duration_ns);
}

}  // namespace mixwalk
