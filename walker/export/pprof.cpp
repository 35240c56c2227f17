#include "walker/export/pprof.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "walker/base/message_builder.h"
#include "walker/export/gzip_sink.h"
#include "walker/export/string_table.h"
#include "walker/shown/clamped.h"
#include "walker/shown/image_id.h"
#include "walker/shown/locations.h"
#include "walker/shown/words.h"

namespace mixwalk {
namespace {

using Tag = protozero::pbf_tag_type;

// Field numbers of profile.proto.
enum class ProfileField : Tag {
  sample_type = 1, sample = 2, mapping = 3, location = 4, function = 5, string_table = 6,
  time_nanos = 9, duration_nanos = 10, period_type = 11, period = 12, comment = 13,
  default_sample_type = 14,
};
enum class ValueTypeField : Tag { type = 1, unit = 2 };
enum class SampleField : Tag { location_id = 1, value = 2, label = 3 };
enum class LabelField : Tag { key = 1, str = 2, num = 3 };
enum class MappingField : Tag {
  id = 1, memory_start = 2, memory_limit = 3, filename = 5, build_id = 6, has_functions = 7,
  has_inline_frames = 10,
};
enum class LocationField : Tag { id = 1, mapping_id = 2, address = 3, line = 4 };
enum class LineField : Tag { function_id = 1, line = 2 };
enum class FunctionField : Tag { id = 1, name = 2, system_name = 3, filename = 4 };

class PprofWriter {
 public:
  PprofWriter(const ShownRecording& shown, ByteSink& sink)
      : shown_(shown), recording_(shown.recording), stacks_(shown.stacks), locations_(stacks_), sink_(sink) {}

  bool write() {
    header();
    mappings();
    locations();
    samples();
    for (const std::string& text : strings_.strings()) {
      profile_.add_string(ProfileField::string_table, text);
      flush_some();
    }
    return sink_.write(buffer_) && sink_.finish();
  }

 private:
  std::int64_t string(std::string_view text) { return strings_.index(text); }

  // Writes a part, so that a document of many samples is never in memory as a whole.
  void flush_some() {
    constexpr std::size_t kBytes = 1 << 16;
    if (buffer_.size() < kBytes) return;
    sink_.write(buffer_);
    buffer_.clear();
  }

  void value_type(ProfileField field, std::string_view type, std::string_view unit_name) {
    MessageBuilder<ValueTypeField> out(profile_, field);
    out.add_int64(ValueTypeField::type, string(type));
    out.add_int64(ValueTypeField::unit, string(unit_name));
  }

  void header() {
    const std::string_view event = enum_name(recording_.event);
    if (shown_.timed) {
      value_type(ProfileField::sample_type, "samples", "count");
      value_type(ProfileField::sample_type, event, "nanoseconds");
    } else {
      value_type(ProfileField::sample_type, event, "count");
    }
    profile_.add_int64(ProfileField::default_sample_type, string(event));
    constexpr std::uint64_t kNsOfMs = 1'000'000;
    const std::uint64_t last_ms = std::numeric_limits<std::int64_t>::max() / kNsOfMs;
    profile_.add_int64(ProfileField::time_nanos,
                       clamped(std::min(recording_.unix_time_ms, last_ms) * kNsOfMs));
    profile_.add_int64(ProfileField::duration_nanos, clamped(recording_.duration_ns));
    if (recording_.period_ns != 0) {
      value_type(ProfileField::period_type, event, "nanoseconds");
      profile_.add_int64(ProfileField::period, clamped(recording_.period_ns));
    }
    profile_.add_int64(ProfileField::comment, string("mixwalk " + recording_.tool_version));
    if (!shown_.rate.empty()) profile_.add_int64(ProfileField::comment, string(shown_.rate));
  }

  bool has_symbols(const Location& location) const {
    return std::all_of(location.frames.begin(), location.frames.end(), [this](std::uint32_t frame) {
      return stacks_.frames()[frame].has_symbol();
    });
  }

  // An image's flags say that pprof need not look for names itself, but only if all of its frames have names.
  void mappings() {
    std::vector<bool> named(recording_.modules.size(), true);
    std::vector<bool> inlined(recording_.modules.size(), false);
    for (const Location& location : locations_.locations()) {
      if (location.module == Frame::kNone) continue;
      const auto module = static_cast<std::size_t>(location.module);
      if (!has_symbols(location)) named[module] = false;
      if (location.frames.size() > 1) inlined[module] = true;
    }
    for (const std::size_t i : main_image_first()) {
      const Module& module = recording_.modules[i];
      MessageBuilder<MappingField> out(profile_, ProfileField::mapping);
      out.add_uint64(MappingField::id, i + 1);
      out.add_uint64(MappingField::memory_start, module.base);
      out.add_uint64(MappingField::memory_limit, module.base + module.size);
      out.add_int64(MappingField::filename, string(module.path));
      out.add_int64(MappingField::build_id, string(module.code_view ? debug_id(module) : code_id(module)));
      out.add_bool(MappingField::has_functions, named[i]);
      out.add_bool(MappingField::has_inline_frames, inlined[i]);
    }
  }

  std::vector<std::size_t> main_image_first() const {
    std::vector<std::size_t> order(recording_.modules.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_partition(order.begin(), order.end(), [this](std::size_t i) {
      return recording_.modules[i].path == recording_.process.path;
    });
    return order;
  }

  void locations() {
    for (std::size_t i = 0; i < locations_.locations().size(); ++i) {
      const Location& location = locations_.locations()[i];
      struct Line {
        std::uint64_t function;
        std::int64_t line;
      };
      std::vector<Line> lines;
      for (const std::uint32_t index : location.frames) {
        const ShownStacks::Frame& frame = stacks_.frames()[index];
        if (!frame.named()) continue;
        lines.push_back({function(index), frame.frame == nullptr ? 0 : frame.frame->line});
      }
      MessageBuilder<LocationField> out(profile_, ProfileField::location);
      out.add_uint64(LocationField::id, i + 1);
      if (location.module != Frame::kNone) {
        out.add_uint64(LocationField::mapping_id, static_cast<std::uint64_t>(location.module) + 1);
      }
      out.add_uint64(LocationField::address, location.address);
      for (const Line& from : lines) {
        MessageBuilder<LineField> line(out, LocationField::line);
        line.add_uint64(LineField::function_id, from.function);
        if (from.line != 0) line.add_int64(LineField::line, from.line);
      }
    }
  }

  // The id of a frame's function; writes it the first time.
  std::uint64_t function(std::uint32_t index) {
    const ShownStacks::Frame& frame = stacks_.frames()[index];
    const Frame* recorded = frame.frame;
    const std::int32_t module = recorded == nullptr ? Frame::kNone : recorded->module;
    const auto [at, added] =
        functions_.try_emplace({frame.label, recorded == nullptr ? "" : recorded->file, module},
                               functions_.size() + 1);
    if (added) {
      MessageBuilder<FunctionField> out(profile_, ProfileField::function);
      out.add_uint64(FunctionField::id, at->second);
      out.add_int64(FunctionField::name, string(frame.label));
      out.add_int64(FunctionField::system_name, string(frame.system_name()));
      if (recorded != nullptr && !recorded->file.empty()) {
        out.add_int64(FunctionField::filename, string(recorded->file));
      }
    }
    return at->second;
  }

  std::string_view leaf_kind(std::uint32_t node) const {
    const Frame* leaf = stacks_.frames()[stacks_.nodes()[node].frame].frame;
    if (leaf != nullptr) return enum_name(leaf->kind);
    const std::uint32_t below = stacks_.nodes()[node].parent;  // the type that was thrown is on top of this
    return below == Recording::kNone ? "none" : leaf_kind(below);
  }

  void samples() {
    const std::int64_t thread_key = string("thread"), tid_key = string("tid");
    const std::int64_t kind_key = string("kind"), standing_key = string("standing");
    std::vector<std::int64_t> names;
    for (const ShownRecording::Thread& thread : shown_.threads) names.push_back(string(thread.label));
    const std::vector<std::uint32_t> leaves = standing_leaves(recording_, stacks_.leaves());
    for (const SampleSum& sum : sum_samples(recording_, leaves, true)) {
      const std::uint32_t leaf = leaf_in(sum.stack);
      ids_.clear();
      for (const std::uint32_t location : locations_.of_stack(leaf)) {
        ids_.push_back(std::uint64_t{location} + 1);
      }
      const std::array<std::int64_t, 2> values = {clamped(sum.count), clamped(sum.value)};
      MessageBuilder<SampleField> out(profile_, ProfileField::sample);
      out.add_packed_uint64(SampleField::location_id, ids_.begin(), ids_.end());
      out.add_packed_int64(SampleField::value, values.begin() + (shown_.timed ? 0 : 1), values.end());
      {
        MessageBuilder<LabelField> label(out, SampleField::label);
        label.add_int64(LabelField::key, thread_key);
        label.add_int64(LabelField::str, names[sum.thread]);
      }
      {
        MessageBuilder<LabelField> label(out, SampleField::label);
        label.add_int64(LabelField::key, tid_key);
        label.add_int64(LabelField::num, recording_.threads[sum.thread].os_id);
      }
      {
        MessageBuilder<LabelField> label(out, SampleField::label);
        label.add_int64(LabelField::key, kind_key);
        label.add_int64(LabelField::str, string(leaf_kind(leaf)));
      }
      if (const Standing standing = standing_in(sum.stack); standing != Standing::unknown) {
        MessageBuilder<LabelField> label(out, SampleField::label);
        label.add_int64(LabelField::key, standing_key);
        label.add_int64(LabelField::str, string(enum_name(standing)));
      }
      out.commit();
      flush_some();
    }
  }

  const ShownRecording& shown_;
  const Recording& recording_;
  const ShownStacks& stacks_;
  Locations locations_;
  GzipSink sink_;
  std::string buffer_;
  MessageBuilder<ProfileField> profile_{buffer_};
  StringTable strings_;
  std::map<std::tuple<std::string, std::string, std::int32_t>, std::uint64_t> functions_;  // by label, file, module
  std::vector<std::uint64_t> ids_;
};

}  // namespace

bool write_pprof(const ShownRecording& shown, ByteSink& sink) { return PprofWriter(shown, sink).write(); }

}  // namespace mixwalk
