#pragma once

#include <cstdint>

#include "symbols/image_files.h"
#include "walker/model/recording.h"

namespace mixwalk {

// A recording with one of everything: representative_snapshot() ten times over time, with inlined frames, two modules
// that were at one base, samples without a stack, a thread that started late, and names that are hostile to every
// format. The result is the same on every machine.
Recording representative_recording(SampleEvent event = SampleEvent::wall);

// The recording of a whole series of dumps.
Recording series_recording(const std::vector<Snapshot>& series);

// The images of that recording that are still on the disk: one as it was loaded, one changed.
inline constexpr const char* kImageOnDisk = "C:\\plugins\\first.dll";
class RecordedImages final : public ImageFiles {
 public:
  std::optional<std::vector<std::byte>> read(const std::string& path) override;
};

// The size and shape of a long recording of a large program, for measurements. Its noise is deterministic.
struct LargeRecording {
  std::uint32_t samples = 1'000'000;
  std::uint32_t threads = 50;
  std::uint32_t nodes = 20'000;
};
Recording large_recording(const LargeRecording& size);

// Methods that a format, or a program that opens it, may take for one another: overloads, and
// instantiations of one generic type or method, also of code outside every image. Each is a leaf
// under one root, with a sum of its own.
Recording overloads_recording();

// Moments and samples of one thread at equal times and less than a microsecond apart, on stacks
// that begin alike and that have one method several times. `event`: wall or one of a moment.
Recording crowded_recording(SampleEvent event);

// Threads that never move, each with a stack of its own, sampled on a busy machine: the samples come at uneven times,
// as far apart as such a machine makes them. In memory this takes 36 bytes per sample.
struct ParkedRecording {
  std::uint32_t threads = 20;
  std::uint32_t frames = 20;  // in each stack
  std::uint32_t seconds = 3600;
  std::uint32_t hz = 10;  // the rate that was reached, of 100 that were requested
};
Recording parked_recording(const ParkedRecording& size);

}  // namespace mixwalk
