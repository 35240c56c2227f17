#include "walker/model/recording_slice.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace mixwalk {
namespace {

constexpr std::uint64_t kNsOfMs = 1'000'000;

// A table of which only some rows are kept, in the order in which they are first used.
template <class Row>
class KeptRows {
 public:
  KeptRows(const std::vector<Row>& from, std::vector<Row>& to)
      : from_(from), to_(to), numbers_(from.size(), Recording::kNone) {}

  bool has(std::uint32_t old) const { return numbers_[old] != Recording::kNone; }
  // The row's new number.
  std::uint32_t number(std::uint32_t old) const { return numbers_[old]; }
  std::uint32_t keep(std::uint32_t old) { return has(old) ? numbers_[old] : add(old, from_[old]); }
  std::uint32_t add(std::uint32_t old, const Row& row) {
    numbers_[old] = static_cast<std::uint32_t>(to_.size());
    to_.push_back(row);
    return numbers_[old];
  }

 private:
  const std::vector<Row>& from_;
  std::vector<Row>& to_;
  std::vector<std::uint32_t> numbers_;
};

class Slicer {
 public:
  Slicer(const Recording& from, Recording& to)
      : from_(from),
        modules_(from.modules, to.modules),
        assemblies_(from.assemblies, to.assemblies),
        threads_(from.threads, to.threads),
        details_(from.details, to.details),
        frames_(from.frames, to.frames),
        nodes_(from.nodes, to.nodes) {}

  Recording::Sample keep(Recording::Sample sample) {
    sample.thread = threads_.keep(sample.thread);
    if (sample.detail != Recording::kNone) sample.detail = details_.keep(sample.detail);
    if (sample.stack != Recording::kNone) sample.stack = keep_node(sample.stack);
    return sample;
  }

 private:
  std::uint32_t keep_frame(std::uint32_t old) {
    if (frames_.has(old)) return frames_.number(old);
    Frame frame = from_.frames[old];
    if (frame.module != Frame::kNone) {
      frame.module =
          static_cast<std::int32_t>(modules_.keep(static_cast<std::uint32_t>(frame.module)));
    }
    if (frame.il.assembly != Frame::kNone) {
      frame.il.assembly =
          static_cast<std::int32_t>(assemblies_.keep(static_cast<std::uint32_t>(frame.il.assembly)));
    }
    return frames_.add(old, frame);
  }

  // Callers come first, because a parent must have the lesser number.
  std::uint32_t keep_node(std::uint32_t leaf) {
    path_.clear();
    std::uint32_t node = leaf;
    for (; node != Recording::kNone && !nodes_.has(node); node = from_.nodes[node].parent) {
      path_.push_back(node);
    }
    std::uint32_t parent = node == Recording::kNone ? node : nodes_.number(node);
    for (auto old = path_.rbegin(); old != path_.rend(); ++old) {
      parent = nodes_.add(*old, {parent, keep_frame(from_.nodes[*old].frame)});
    }
    return parent;
  }

  const Recording& from_;
  KeptRows<Module> modules_;
  KeptRows<Assembly> assemblies_;
  KeptRows<Recording::ThreadInfo> threads_;
  KeptRows<std::string> details_;
  KeptRows<Frame> frames_;
  KeptRows<Recording::Node> nodes_;
  std::vector<std::uint32_t> path_;
};

}  // namespace

Recording recording_slice(const Recording& recording, std::span<const Recording::Sample> samples,
                          std::uint64_t begin_ns, std::uint64_t end_ns) {
  Recording slice;
  slice.tool_version = recording.tool_version;
  const std::uint64_t begin_ms = begin_ns / kNsOfMs;
  constexpr std::uint64_t kLast = std::numeric_limits<std::uint64_t>::max();
  slice.unix_time_ms = recording.unix_time_ms + std::min(begin_ms, kLast - recording.unix_time_ms);
  slice.duration_ns = end_ns - std::min(end_ns, begin_ms * kNsOfMs);
  slice.period_ns = recording.period_ns;
  slice.event = recording.event;
  slice.process = recording.process;
  slice.runtime = recording.runtime;
  slice.engine = recording.engine;
  Slicer slicer(recording, slice);
  slice.samples.reserve(samples.size());
  for (const Recording::Sample& sample : samples) {
    slice.samples.push_back(slicer.keep(sample));
    slice.samples.back().time_ns -= std::min(sample.time_ns, begin_ms * kNsOfMs);
  }
  return slice;
}

}  // namespace mixwalk
