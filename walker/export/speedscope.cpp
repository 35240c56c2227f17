#include "walker/export/speedscope.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "walker/export/json_writer.h"
#include "walker/export/recorded_stacks.h"
#include "walker/export/words.h"

namespace mixwalk {
namespace {

class Writer {
 public:
  Writer(const Recording& recording, ByteSink& sink)
      : recording_(recording), stacks_(recording), json_(sink) {}

  bool write() {
    json_.begin_object();
    json_.field("$schema", "https://www.speedscope.app/file-format-schema.json");
    json_.field("exporter", "mixwalk " + recording_.tool_version);
    json_.field("name", fmt::format("{} ({})", module_name({.path = recording_.process.path}),
                                    recording_.process.id));
    frames();
    profiles();
    json_.end_object();
    return json_.finish();
  }

 private:
  // Frames that read the same in one image are one frame, or every call site were one of its own.
  void frames() {
    json_.key("shared");
    json_.begin_object();
    json_.key("frames");
    json_.begin_array();
    std::map<std::pair<std::string, std::int32_t>, std::uint32_t> known;
    for (const RecordedStacks::Frame& frame : stacks_.frames()) {
      const std::int32_t module = frame.frame == nullptr ? Frame::kNone : frame.frame->module;
      const auto [at, added] =
          known.try_emplace({frame.label, module}, static_cast<std::uint32_t>(known.size()));
      frame_.push_back(at->second);
      if (!added) continue;
      json_.begin_object();
      json_.field("name", frame.label);
      if (module != Frame::kNone) {
        json_.field("file", recording_.modules[static_cast<std::size_t>(module)].path);
      }
      json_.end_object();
    }
    json_.end_array();
    json_.end_object();
  }

  void profiles() {
    json_.key("profiles");
    json_.begin_array();
    const auto by_thread = samples_by_thread(recording_);
    for (std::size_t thread = 0; thread < by_thread.size(); ++thread) {
      // A profile without samples is an error to speedscope.
      if (!by_thread[thread].empty()) profile(recording_.threads[thread], by_thread[thread]);
    }
    json_.end_array();
  }

  void profile(const Recording::ThreadInfo& thread, const std::vector<std::uint32_t>& samples) {
    json_.begin_object();
    json_.field("type", "sampled");
    json_.field("name", thread_label(thread));
    json_.field("unit", unit(recording_.event) == "nanoseconds" ? "nanoseconds" : "none");
    json_.field("startValue", 0);
    json_.field("endValue", total(samples));
    json_.key("samples");
    json_.begin_array();
    for (const std::uint32_t sample : samples) stack(stacks_.leaves()[sample]);
    json_.end_array();
    json_.key("weights");
    json_.begin_array();
    for (const std::uint32_t sample : samples) json_.value(recording_.samples[sample].value);
    json_.end_array();
    json_.end_object();
  }

  std::uint64_t total(const std::vector<std::uint32_t>& samples) const {
    std::uint64_t sum = 0;
    for (const std::uint32_t sample : samples) {
      sum += std::min(recording_.samples[sample].value,
                      std::numeric_limits<std::uint64_t>::max() - sum);
    }
    return sum;
  }

  void stack(std::uint32_t node) {
    path_.clear();
    for (; node != Recording::kNone; node = stacks_.nodes()[node].parent) {
      path_.push_back(frame_[stacks_.nodes()[node].frame]);
    }
    json_.begin_array();
    for (auto frame = path_.rbegin(); frame != path_.rend(); ++frame) json_.value(*frame);
    json_.end_array();
  }

  const Recording& recording_;
  const RecordedStacks stacks_;
  JsonWriter json_;
  std::vector<std::uint32_t> frame_;  // of each of the recording's: its index in the document
  std::vector<std::uint32_t> path_;
};

}  // namespace

bool SpeedscopeExporter::write(const Recording& recording, ByteSink& sink) const {
  return Writer(recording, sink).write();
}

}  // namespace mixwalk
