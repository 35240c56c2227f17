#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "walker/model/recording.h"
#include "walker/model/recording_builder.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// Makes one recording of SampleEvent::dump from the dumps of one process, in the order of time. Samples with the same
// time belong to the same dump. If dumps have the same millisecond, or the clock was set back, their times are set one
// millisecond apart. Everything in the recording only grows, so that it can be written while the series goes on.
class SeriesBuilder {
 public:
  // A dump without threads has no samples, so the recording does not show it.
  void add(const Snapshot& dump);
  // To be called after the last dump: gives the recording itself the locks of that dump, which is where the first
  // versions of mixwalk look.
  void end();
  Recording& recording() noexcept { return builder_.recording(); }

 private:
  std::uint32_t thread_of(const Thread& thread);

  RecordingBuilder builder_;
  std::map<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t, std::string>, std::uint32_t> threads_;
  std::size_t tasks_ = 0;  // of all dumps so far, with contexts and items of queues
  std::size_t exceptions_ = 0;  // that threads of all dumps so far handle, with their inner exceptions
  bool begun_ = false;
  std::uint64_t time_ms_ = 0;  // of the last dump, since the first one
};

// Makes a recording of a dump: one sample per thread, in the snapshot's order.
Recording to_recording(const Snapshot& dump);

// The dumps of a recording of SampleEvent::dump, in order; one without threads if it has no samples. Values that a
// recording does not keep (stack pointers and frozen times) are 0. Each has the modules and assemblies of all. Earlier
// versions of mixwalk did not record the locks and processor times of earlier dumps (Recording::earlier_dumps). A dump
// without that record has none of them, and locks_missing says so.
std::vector<Snapshot> to_series(const Recording& recording);

// The number of dumps in the recording; 1 if it has no samples.
std::size_t dumps_of(const Recording& recording);

}  // namespace mixwalk
