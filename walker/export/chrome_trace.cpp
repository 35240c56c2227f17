#include "walker/export/chrome_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "walker/export/json_writer.h"
#include "walker/shown/words.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kMomentNs = 1000;
constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();

constexpr std::size_t kPhaseAt = std::string_view(R"({"ph":")").size();

// Perfetto multiplies a time by 1,000 in floating point and cuts off what is behind the point,
// so 1.001 would become 1,000 ns, and a slice of one nanosecond would have no length. Such a time
// gets a tenth of a nanosecond more.
std::string microseconds(std::uint64_t ns) {
  // Up to here, a double holds every whole number.
  constexpr std::uint64_t kExact = 9'007'199'254'740'992;
  const double read = static_cast<double>(ns) / 1000 * 1000;
  const bool cut_off = ns < kExact && read < static_cast<double>(ns);
  return fmt::format("{}.{:03}{}", ns / 1000, ns % 1000, cut_off ? "1" : "");
}

std::uint64_t added(std::uint64_t a, std::uint64_t b) { return a + std::min(b, kLast - a); }

class ChromeTraceWriter {
 public:
  ChromeTraceWriter(const ShownRecording& shown, ByteSink& sink)
      : shown_(shown), recording_(shown.recording), stacks_(shown.stacks), json_(sink) {}

  bool write() {
    names();
    json_.begin_object();
    json_.field("displayTimeUnit", "ns");
    if (!shown_.rate.empty()) {
      json_.key("otherData");
      json_.begin_object();
      json_.field("rate reached", shown_.rate);
      json_.end_object();
    }
    json_.key("traceEvents");
    json_.begin_array();
    metadata("process_name", 0, module_name({.path = recording_.process.path}));
    for (const Track& track : tracks()) {
      metadata("thread_name", track.thread_id, shown_.threads[track.name_of].label);
      slices(track);
    }
    if (recording_.samples.empty()) no_samples();
    json_.end_array();
    json_.end_object();
    return json_.finish();
  }

 private:
  // The slices under one thread id. The system reuses ids, but slices must not overlap.
  struct Track {
    std::uint32_t thread_id = 0;
    std::uint32_t name_of = 0;  // the last thread with this id
    std::string event_begin;
    std::vector<std::uint32_t> samples;
  };

  Track new_track(std::uint32_t thread_id) const {
    return {.thread_id = thread_id,
            .event_begin = fmt::format(R"({{"ph":"?","pid":{},"tid":{},"ts":)",
                                       recording_.process.id, thread_id)};
  }

  std::vector<Track> tracks() const {
    std::vector<Track> tracks;
    std::unordered_map<std::uint32_t, std::size_t> known;
    for (std::size_t i = 0; i < recording_.samples.size(); ++i) {
      const std::uint32_t thread = recording_.samples[i].thread;
      const std::uint32_t id = recording_.threads[thread].os_id;
      const auto [at, fresh] = known.emplace(id, tracks.size());
      if (fresh) tracks.push_back(new_track(id));
      tracks[at->second].name_of = thread;
      tracks[at->second].samples.push_back(static_cast<std::uint32_t>(i));
    }
    return tracks;
  }

  // Makes, for each frame, the event's fields that never change.
  void names() {
    for (const ShownStacks::Frame& frame : stacks_.frames()) name_.push_back(fields(frame, Standing::unknown));
  }

  // Frames with equal fields share one entry. The categories of a leaf are its kind and the thread's standing.
  std::uint32_t fields(const ShownStacks::Frame& frame, Standing standing) {
    std::string fields =
        fmt::format(R"("cat":"{}{}{}","name":{})", frame.frame == nullptr ? "none" : enum_name(frame.frame->kind),
                    standing == Standing::unknown ? "" : ",",
                    standing == Standing::unknown ? std::string_view() : enum_name(standing), quoted_json(frame.label));
    const auto [at, fresh] = known_.emplace(fields, static_cast<std::uint32_t>(fields_.size()));
    if (fresh) fields_.push_back(std::move(fields));
    return at->second;
  }

  // A function that runs goes on when it calls another, so its slice must not end there.
  std::uint32_t leaf_fields(std::uint32_t frame, Standing standing) {
    if (standing != Standing::idle && standing != Standing::waits) return name_[frame];
    const auto [at, fresh] = leaf_name_.try_emplace(std::uint64_t{frame} * 4 + static_cast<std::uint64_t>(standing));
    if (fresh) at->second = fields(stacks_.frames()[frame], standing);
    return at->second;
  }

  void metadata(std::string_view what, std::uint32_t thread_id, std::string_view name) {
    json_.begin_object();
    json_.field("ph", "M");
    json_.field("pid", recording_.process.id);
    json_.field("tid", thread_id);
    json_.field("name", what);
    json_.key("args");
    json_.begin_object();
    json_.field("name", name);
    json_.end_object();
    json_.end_object();
  }

  // Events are written without JsonWriter, because a long recording has some ten million of them.
  void event(char phase, const Track& track, std::string_view time_us, std::uint32_t name) {
    text_ = track.event_begin;
    text_[kPhaseAt] = phase;
    text_ += time_us;
    text_ += ',';
    text_ += fields_[name];
    text_ += '}';
    json_.literal(text_);
  }

  // speedscope refuses a trace without slices.
  void no_samples() {
    metadata("thread_name", 0, kNoSamples);
    fields_ = {fmt::format(R"("cat":"none","name":{})", quoted_json(kNoSamples))};
    const Track track = new_track(0);
    event('B', track, microseconds(0), 0);
    event('E', track, microseconds(kMomentNs), 0);
  }

  // When a sample's slices end, and whether the next sample of its thread continues them.
  struct Extent {
    std::uint64_t end = 0;
    bool continues = false;
  };
  // `begin`: when its slices begin.
  Extent extent(const Track& track, std::size_t i, std::uint64_t begin) const {
    const Recording::Sample& sample = recording_.samples[track.samples[i]];
    const bool last = i + 1 == track.samples.size();
    const std::uint64_t next = last ? kLast : recording_.samples[track.samples[i + 1]].time_ns;
    if (!shown_.timed) return {std::min(added(begin, kMomentNs), next == 0 ? next : next - 1), false};
    const std::uint64_t own = added(sample.time_ns, sample.value);
    const std::uint64_t twice = added(recording_.period_ns, recording_.period_ns);
    if (!last && next <= std::max(own, added(sample.time_ns, twice))) return {next, true};
    // Under load, samples come late by varying times. The next sample then stands for all of the time since this one,
    // so nothing is missing between the two.
    if (!last && next - sample.time_ns <= recording_.samples[track.samples[i + 1]].value) {
      return {next, true};
    }
    return {own, false};
  }

  // Samples of one time come one after the other, each for a nanosecond at least. Without a length,
  // a slice would not be visible, and programs that sort events by time could not know which slice
  // is inside which.
  //
  // Folklore: if a slice ends and another slice of its name begins at the same time, speedscope
  // takes the beginning first, and from there on its stacks are wrong. Real case: two exceptions of
  // one thread within a microsecond, each on a stack that begins with Main. Remedy: such a slice
  // begins a nanosecond later. Test: chrome_trace_consumer, by `crowded`.
  void slices(const Track& track) {
    std::vector<std::uint32_t> open, stack;  // names, root first
    const auto close = [&](std::size_t depth, const std::string& time_us) {
      for (; open.size() > depth; open.pop_back()) event('E', track, time_us, open.back());
    };
    std::uint64_t last_end = 0;
    for (std::size_t i = 0; i < track.samples.size(); ++i) {
      const Recording::Sample& sample = recording_.samples[track.samples[i]];
      // Slices of moments do not go on, so all of them may end at `last_end`.
      const std::uint64_t begin =
          std::max(sample.time_ns, shown_.timed || i == 0 ? last_end : added(last_end, 1));
      Extent extent = this->extent(track, i, begin);
      std::string time_us = microseconds(begin);
      if (shown_.timed && sample.value == 0 && extent.end == sample.time_ns) {  // it stands for no time
        if (!extent.continues) close(0, time_us);
        continue;
      }
      stack.clear();
      const Standing standing = recording_.samples[track.samples[i]].standing;
      for (std::uint32_t node = stacks_.leaves()[track.samples[i]]; node != Recording::kNone;
           node = stacks_.nodes()[node].parent) {
        const std::uint32_t frame = stacks_.nodes()[node].frame;
        stack.push_back(stack.empty() ? leaf_fields(frame, standing) : name_[frame]);
      }
      std::reverse(stack.begin(), stack.end());
      const auto differ = std::mismatch(open.begin(), open.end(), stack.begin(), stack.end());
      const bool reopened = differ.second != stack.end() &&
                            std::find(differ.first, open.end(), *differ.second) != open.end();
      extent.end = std::max(extent.end, added(begin, reopened ? 2 : 1));
      close(static_cast<std::size_t>(differ.first - open.begin()), time_us);
      if (reopened) time_us = microseconds(added(begin, 1));
      while (open.size() < stack.size()) {
        open.push_back(stack[open.size()]);
        event('B', track, time_us, open.back());
      }
      if (!extent.continues) close(0, microseconds(extent.end));
      last_end = extent.end;
    }
  }

  const ShownRecording& shown_;
  const Recording& recording_;
  const ShownStacks& stacks_;
  JsonWriter json_;
  std::vector<std::string> fields_;
  std::unordered_map<std::string, std::uint32_t> known_;        // fields → their index
  std::vector<std::uint32_t> name_;                             // for each frame, its index into fields_
  std::unordered_map<std::uint64_t, std::uint32_t> leaf_name_;  // for each leaf and standing, the same
  std::string text_;
};

}  // namespace

bool write_chrome_trace(const ShownRecording& shown, ByteSink& sink) { return ChromeTraceWriter(shown, sink).write(); }

}  // namespace mixwalk
