#include "walker/session/recording_collector.h"

#include <algorithm>
#include <numeric>

#include "walker/store/record.h"

namespace mixwalk {

std::string_view RecordingCollector::add(std::string_view bytes, bool new_file) {
  if (new_file || !reader_) {
    dropped_before_ = dropped_;
    reader_.emplace();
    clear_numbers();
    if (!bytes.starts_with(layout::kMagic)) return "a recording does not begin as one";
    bytes.remove_prefix(layout::kMagic.size());
  }
  while (!bytes.empty()) {
    const Record record = next_record(bytes);
    if (record.state != Record::State::whole) return "a record is damaged";
    std::string_view problem;
    switch (record.kind) {
      case layout::File::header: problem = reader_->read_header(record.content); break;
      case layout::File::chunk: problem = reader_->read_chunk(record.content); break;
      case layout::File::footer: problem = reader_->read_footer(record.content); break;
      case layout::File::magic: problem = "a record is out of place"; break;
    }
    if (!problem.empty()) return problem;
    bytes.remove_prefix(record.size);
  }
  take_over();
  return {};
}

void RecordingCollector::add_lost(std::uint64_t samples) {
  dropped_ += samples;
  recording().dropped += samples;
}

void RecordingCollector::begin_piece() {
  constexpr std::uint64_t kMillisecond = 1'000'000;
  dropped_stored_ = dropped_;
  piece_begin_ns_ += recording().duration_ns / kMillisecond * kMillisecond;
  builder_ = RecordingBuilder();
  begun_ = false;
  clear_numbers();
  if (reader_) take_over();
}

void RecordingCollector::clear_numbers() {
  for (auto* map : {&modules_, &assemblies_, &threads_, &details_, &frames_, &frame_ends_, &inlined_,
                    &nodes_}) {
    map->clear();
  }
}

void RecordingCollector::take_over() {
  const Recording& from = reader_->recording();
  Recording& to = recording();
  if (!begun_) {
    begun_ = true;
    to.tool_version = from.tool_version;
    to.unix_time_ms = from.unix_time_ms + piece_begin_ns_ / 1'000'000;
    to.period_ns = from.period_ns;
    to.event = from.event;
    to.engine = from.engine;
    to.process = from.process;
    to.runtime = from.runtime;
  }
  const auto in_piece = [&](std::uint64_t ns) { return ns - std::min(ns, piece_begin_ns_); };
  to.duration_ns = in_piece(from.duration_ns);
  dropped_ = dropped_before_ + from.dropped;
  to.dropped = dropped_ - dropped_stored_;
  while (modules_.size() < from.modules.size()) {
    Module module = from.modules[modules_.size()];
    if (identifier_.module) identifier_.module(module);
    modules_.push_back(builder_.add_module(module));
  }
  while (assemblies_.size() < from.assemblies.size()) {
    Assembly assembly = from.assemblies[assemblies_.size()];
    if (identifier_.assembly) identifier_.assembly(assembly);
    assemblies_.push_back(builder_.add_assembly(assembly));
  }
  // A thread's name may have come later.
  for (std::size_t i = 0; i < from.threads.size(); ++i) {
    const Recording::ThreadInfo& thread = from.threads[i];
    // A series of dumps has several rows with the same id, for threads that have another name in another dump.
    if (from.event == SampleEvent::dump) {
      if (i == threads_.size()) {
        threads_.push_back(static_cast<std::uint32_t>(to.threads.size()));
        to.threads.emplace_back();
      }
      to.threads[threads_[i]] = thread;
      continue;
    }
    const std::uint32_t number = builder_.add_thread(thread.os_id, thread.clr_id, thread.name);
    if (i == threads_.size()) threads_.push_back(number);
    to.threads[number].created = thread.created;
    to.threads[number].cpu = thread.cpu;
  }
  to.locks = from.locks;
  to.locks_missing = from.locks_missing;
  to.unasked = from.unasked;
  to.some_threads = from.some_threads;
  to.async = from.async;
  to.earlier_dumps = from.earlier_dumps;
  while (details_.size() < from.details.size()) {
    details_.push_back(builder_.add_detail(from.details[details_.size()]));
  }
  add_frames(from.frames);
  while (nodes_.size() < from.nodes.size()) add_node(from.nodes[nodes_.size()]);
  for (Recording::Sample sample : from.samples) {
    sample.time_ns = in_piece(sample.time_ns);
    sample.thread = threads_[sample.thread];
    if (sample.stack != Recording::kNone) sample.stack = nodes_[sample.stack];
    if (sample.detail != Recording::kNone) sample.detail = details_[sample.detail];
    to.samples.push_back(sample);
  }
  reader_->clear_samples();
}

// Frames are named module by module, since symbols of other modules may be closed meanwhile (Symboliser::kMaxBytes),
// and are numbered in the order of the file.
void RecordingCollector::add_frames(const std::vector<Frame>& from) {
  const std::size_t first = frame_ends_.size();
  std::vector<std::uint32_t> order(from.size() - first);
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t left, std::uint32_t right) {
    return from[first + left].module < from[first + right].module;
  });
  std::vector<std::vector<Frame>> all(order.size());
  for (const std::uint32_t i : order) all[i] = named(from[first + i]);
  for (const std::vector<Frame>& frames : all) {
    for (const Frame& frame : frames) frames_.push_back(builder_.add_frame(frame));
    frame_ends_.push_back(static_cast<std::uint32_t>(frames_.size()));
  }
}

std::vector<Frame> RecordingCollector::named(Frame frame) {
  if (frame.module != Frame::kNone) {
    frame.module = static_cast<std::int32_t>(modules_[static_cast<std::size_t>(frame.module)]);
  }
  if (frame.il.assembly != Frame::kNone) {
    const std::uint32_t assembly = assemblies_[static_cast<std::size_t>(frame.il.assembly)];
    frame.il.assembly = static_cast<std::int32_t>(assembly);
    if (liner_) liner_(frame, recording().assemblies[assembly]);
  }
  if (frame.kind != FrameKind::native || frame.module == Frame::kNone) return {std::move(frame)};
  const Module& module = recording().modules[static_cast<std::size_t>(frame.module)];
  return namer_(std::move(frame), module);
}

// Adds one node of ours for each of our frames of the node's frame. The innermost of them is our node for it. A stack
// gets only as many inlined calls as the format has room for besides its real frames (layout::kMaxDepth).
void RecordingCollector::add_node(const Recording::Node& node) {
  constexpr std::uint32_t kMaxInlined = layout::kMaxDepth / 4;
  const bool is_root = node.parent == Recording::kNone;
  std::uint32_t ours = is_root ? Recording::kNone : nodes_[node.parent];
  std::uint32_t inlined = is_root ? 0 : inlined_[node.parent];
  const std::uint32_t end = frame_ends_[node.frame];
  std::uint32_t begin = node.frame == 0 ? 0 : frame_ends_[node.frame - 1];
  if (inlined + (end - begin - 1) > kMaxInlined) begin = end - 1;
  inlined += end - begin - 1;
  for (std::uint32_t i = end; i-- != begin;) ours = builder_.add_node(ours, frames_[i]);
  nodes_.push_back(ours);
  inlined_.push_back(inlined);
}

}  // namespace mixwalk
