#include "walker/export/difference_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "unmanaged/enum_texts.h"
#include "walker/base/printable.h"
#include "walker/export/text_styles.h"
#include "walker/hang/finding_words.h"
#include "walker/shown/recording_difference.h"
#include "walker/shown/utc_text.h"
#include "walker/shown/words.h"

namespace mixwalk {
namespace {

constexpr std::size_t kNameBytes = 200;  // bytes
// How many frames of each list are shown, unless all are asked for.
constexpr std::size_t kFrames = 10;
// The least difference that is shown, in percentage points. A smaller one would be printed as 0.0.
constexpr double kMinPoints = 0.05;

constexpr EnumTexts<SampleEvent::module_load> kUnits{"samples",
                                                     "wall time",
                                                     "samples of threads that used the processor",
                                                     "exceptions",
                                                     "allocations",
                                                     "types that were loaded",
                                                     "modules that were loaded"};

// One of the two shares of a frame that are listed.
struct Share {
  std::string_view title;
  double FrameShare::* of;

  double points(const FrameDifference& frame) const { return 100 * (frame.after.*of - frame.before.*of); }
};

class DifferenceTextWriter {
 public:
  DifferenceTextWriter(const Recording& before, const Recording& after, const std::array<std::string, 2>& files,
         const DifferenceTextOptions& options)
      : frames_(recording_difference(before, after)), options_(options) {
    text_ = fmt::format("{}Shares of all {}, before and after{}\n", bold(), kUnits.of(after.event), reset());
    add_recording("before", before, files[0]);
    add_recording("after ", after, files[1]);
  }

  std::string text() {
    constexpr Share kShares[] = {{"with what they call", &FrameShare::total}, {"in themselves", &FrameShare::self}};
    bool any = false;
    for (const bool grew : {true, false}) {
      for (const Share& share : kShares) any = add_list(share, grew) || any;
    }
    if (!any) text_ += "\nNo frame's share differs by 0.1 points or more.\n";
    return std::move(text_);
  }

 private:
  std::string_view bold() const { return options_.colour ? kBold : std::string_view(); }
  std::string_view dim() const { return options_.colour ? kDim : std::string_view(); }
  std::string_view reset() const { return options_.colour ? kReset : std::string_view(); }

  void add_recording(std::string_view name, const Recording& recording, const std::string& file) {
    const std::string rate = rate_sentence(recording), standings = standing_sentence(recording);
    text_ += fmt::format("  {}  process {}  {}  {}  {} in {}  {}  {}{}{}{}{}\n", name, recording.process.id,
                         printable(recording.process.path, kNameBytes), utc_text(recording.unix_time_ms),
                         count_words(recording.samples.size(), "sample"), time_words(recording.duration_ns / 1'000'000),
                         count_words(recording.threads.size(), "thread"), rate.empty() ? rate : rate + "  ",
                         standings.empty() ? standings : standings + "  ", dim(),
                         printable(file, kNameBytes), reset());
  }

  // Returns false if the list is empty.
  bool add_list(const Share& share, bool grew) {
    std::vector<const FrameDifference*> listed;
    for (const FrameDifference& frame : frames_) {
      const double points = share.points(frame);
      if (std::abs(points) >= kMinPoints && (points > 0) == grew) listed.push_back(&frame);
    }
    if (listed.empty()) return false;
    std::ranges::stable_sort(listed, [&](const FrameDifference* a, const FrameDifference* b) {
      const double of_a = std::abs(share.points(*a)), of_b = std::abs(share.points(*b));
      return of_a != of_b ? of_a > of_b : a->label < b->label;
    });
    text_ += fmt::format("\n{}{}, {}{} (points of the total)\n", bold(), grew ? "Grew" : "Shrank", share.title,
                         reset());
    const std::size_t shown = options_.all ? listed.size() : std::min(listed.size(), kFrames);
    for (std::size_t i = 0; i < shown; ++i) {
      const FrameDifference& frame = *listed[i];
      text_ += fmt::format("  {:+6.1f}  {:5.1f} % → {:5.1f} %  {}  {}\n", share.points(frame),
                           100 * (frame.before.*share.of), 100 * (frame.after.*share.of), frame.kind,
                           printable(frame.label, kNameBytes));
    }
    if (shown < listed.size()) {
      text_ += fmt::format("  … {} (--all)\n", count_words(listed.size() - shown, "more frame"));
    }
    return true;
  }

  std::vector<FrameDifference> frames_;
  const DifferenceTextOptions& options_;
  std::string text_;
};

}  // namespace

bool write_difference_text(const Recording& before, const Recording& after, const std::array<std::string, 2>& files,
                           const DifferenceTextOptions& options, ByteSink& sink) {
  return sink.write(DifferenceTextWriter(before, after, files, options).text());
}

}  // namespace mixwalk
