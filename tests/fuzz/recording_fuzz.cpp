// Reads arbitrary bytes as a .mixwalk file, both unchanged and with their checksums corrected: they must be refused, or
// give a recording whose indices are all valid and that is the same after it was written and read again.

#include <cstdint>
#include <cstdlib>
#include <utility>

#include "tests/builders/record_builder.h"
#include "walker/export/dump_format.h"
#include "walker/model/series.h"
#include "walker/store/recording_reader.h"
#include "walker/store/recording_writer.h"

namespace {

using mixwalk::Recording;

void check(bool holds) {
  if (!holds) std::abort();
}

void check_indices(const Recording& recording) {
  for (const mixwalk::Frame& frame : recording.frames) {
    check(frame.module >= mixwalk::Frame::kNone &&
          std::cmp_less(frame.module, recording.modules.size()));
  }
  for (std::size_t i = 0; i < recording.nodes.size(); ++i) {
    const Recording::Node& node = recording.nodes[i];
    check(node.frame < recording.frames.size());
    check(node.parent == Recording::kNone || node.parent < i);
  }
  std::uint64_t time = 0;
  for (const Recording::Sample& sample : recording.samples) {
    check(sample.time_ns >= std::exchange(time, sample.time_ns));
    check(sample.thread < recording.threads.size());
    check(sample.stack == Recording::kNone || sample.stack < recording.nodes.size());
    check(sample.detail == Recording::kNone || sample.detail < recording.details.size());
  }
  check(recording.duration_ns >= time);
}

void read(std::string_view bytes) {
  const mixwalk::ReadRecording first = mixwalk::read_recording(bytes);
  check(first.recording.has_value() == first.error.empty());
  check(first.cut.bytes <= bytes.size());
  if (!first.recording) return;
  check((first.cut.kind == mixwalk::Cut::Kind::none) == mixwalk::sentence(first.cut).empty());
  check_indices(*first.recording);

  mixwalk::StringSink sink;
  check(mixwalk::write_store(*first.recording, sink));
  const mixwalk::ReadRecording again = mixwalk::read_recording(sink.text);
  check(again.recording == first.recording && again.cut.kind == mixwalk::Cut::Kind::none);
  // Copying the shared stacks for every sample takes time, so this is done only for small recordings.
  if (bytes.size() < 1000 && mixwalk::dump_refusal(*first.recording).empty()) {
    std::size_t threads = 0;
    for (const mixwalk::Snapshot& dump : mixwalk::to_series(*first.recording)) threads += dump.threads.size();
    check(threads == first.recording->samples.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read(bytes);
  read(mixwalk::resealed(bytes));
  return 0;
}
