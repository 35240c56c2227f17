#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "walker/hang/frame_names.h"
#include "walker/hang/wait.h"
#include "walker/model/recording.h"

namespace mixwalk {

// The standing of a thread with this wait.
Standing standing_of(const Wait& wait) noexcept;
// The standing of a thread of a dump.
Standing standing_of(const FrameNames& names, const Thread& thread);

// Gives samples their standing, by the wait of their stack (wait_of()). Each stack is looked at once. Samples of a
// moment (is_moment()) get none: the thread of an event ran.
class RecordedStandings {
 public:
  RecordedStandings() = default;
  RecordedStandings(const RecordedStandings&) = delete;  // names_ refers to images_
  RecordedStandings& operator=(const RecordedStandings&) = delete;

  // Marks the samples from the index `first` on. The tables may only have grown since the last call.
  void mark(Recording& recording, std::size_t first);
  // To be called when the recording has begun anew, with other tables.
  void begin_anew() noexcept { known_.clear(), names_.reset(), images_ = {}; }

 private:
  Standing of(const Recording& recording, std::uint32_t leaf) const;
  void meet_images(const Recording& recording);

  Snapshot images_;  // the process, the modules and the assemblies of the recording, without threads
  std::optional<FrameNames> names_;
  std::vector<std::optional<Standing>> known_;  // by leaf node
};

// Marks all samples.
void mark_standings(Recording& recording);
// Marks all samples of a recording from a file, unless the file has standings. Earlier mixwalks wrote none.
void complete_standings(Recording& recording);

}  // namespace mixwalk
