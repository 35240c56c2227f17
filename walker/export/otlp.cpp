#include "walker/export/otlp.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

#include "unmanaged/sha256.h"
#include "walker/base/message_builder.h"
#include "walker/export/string_table.h"
#include "walker/model/reached_rate.h"
#include "walker/shown/clamped.h"
#include "walker/shown/image_id.h"
#include "walker/shown/locations.h"
#include "walker/shown/words.h"

namespace mixwalk {
namespace {

using Tag = protozero::pbf_tag_type;
using Indices = std::vector<std::int32_t>;

// Field numbers of profiles_service.proto, profiles.proto, resource.proto and common.proto.
enum class RequestField : Tag { resource_profiles = 1, dictionary = 2 };
enum class ResourceProfilesField : Tag { resource = 1, scope_profiles = 2 };
enum class ResourceField : Tag { attributes = 1 };
enum class ScopeProfilesField : Tag { scope = 1, profiles = 2 };
enum class ScopeField : Tag { name = 1, version = 2 };
enum class DictionaryField : Tag {
  mapping_table = 1, location_table = 2, function_table = 3, link_table = 4, string_table = 5,
  attribute_table = 6, stack_table = 7,
};
enum class ProfileField : Tag {
  sample_type = 1, samples = 2, time_unix_nano = 3, duration_nano = 4, period_type = 5, period = 6,
  profile_id = 7, attribute_indices = 11,
};
enum class ValueTypeField : Tag { type_strindex = 1, unit_strindex = 2 };
enum class SampleField : Tag {
  stack_index = 1, attribute_indices = 2, values = 4, timestamps_unix_nano = 5,
};
enum class MappingField : Tag {
  memory_start = 1, memory_limit = 2, filename_strindex = 4, attribute_indices = 5,
};
enum class LocationField : Tag { mapping_index = 1, address = 2, lines = 3, attribute_indices = 4 };
enum class LineField : Tag { function_index = 1, line = 2 };
enum class FunctionField : Tag { name_strindex = 1, system_name_strindex = 2, filename_strindex = 3 };
enum class StackField : Tag { location_indices = 1 };
enum class LinkField : Tag { trace_id = 1, span_id = 2 };
enum class KeyValueAndUnitField : Tag { key_strindex = 1, value = 2 };
enum class KeyValueField : Tag { key = 1, value = 2 };
enum class AnyValueField : Tag { string_value = 1, int_value = 3, double_value = 4 };

// A table of the dictionary, with messages that are stored once. Index 0 is the empty message.
class Table {
 public:
  Table() { index(""); }
  std::int32_t index(std::string message) {
    const auto [at, added] =
        known_.emplace(std::move(message), static_cast<std::int32_t>(messages_.size()));
    if (added) messages_.push_back(&at->first);
    return at->second;
  }
  void write(MessageBuilder<DictionaryField>& out, DictionaryField field) const {
    for (const std::string* message : messages_) out.add_message(field, *message);
  }

 private:
  std::unordered_map<std::string, std::int32_t> known_;
  std::vector<const std::string*> messages_;
};

// A field that is 0 is left out, as in proto3, because entries of a table are compared by their bytes.
class OtlpWriter {
 public:
  OtlpWriter(const ShownRecording& shown, ImageFiles& images, const OtlpOptions& options)
      : shown_(shown),
        recording_(shown.recording),
        images_(images),
        options_(options),
        stacks_(shown.stacks),
        locations_(stacks_) {
    constexpr std::uint64_t kNsOfMs = 1'000'000;
    begin_ns_ = std::min(recording_.unix_time_ms, kLastNs / kNsOfMs) * kNsOfMs;
  }

  std::string document() && {
    mappings();
    locations();
    MessageBuilder<RequestField> out(document_);
    resource_profiles(out);
    dictionary(out);  // last, because it contains everything that the other parts refer to
    return std::move(document_);
  }

 private:
  static constexpr std::uint64_t kLastNs = std::numeric_limits<std::uint64_t>::max();

  std::int32_t string(std::string_view text) {
    return static_cast<std::int32_t>(strings_.index(text));
  }

  std::int32_t attribute_with(std::string_view name, const auto& write_value) {
    std::string message;
    MessageBuilder<KeyValueAndUnitField> out(message);
    out.add_int32(KeyValueAndUnitField::key_strindex, string(name));
    {
      MessageBuilder<AnyValueField> value(out, KeyValueAndUnitField::value);
      write_value(value);
    }
    return attributes_.index(std::move(message));
  }
  std::int32_t attribute(std::string_view name, std::string_view text) {
    return attribute_with(name, [&](auto& value) { value.add_string(AnyValueField::string_value, valid_utf8(text)); });
  }
  std::int32_t attribute(std::string_view name, std::int64_t number) {
    return attribute_with(name, [&](auto& value) { value.add_int64(AnyValueField::int_value, number); });
  }
  std::int32_t attribute(std::string_view name, double number) {
    return attribute_with(name, [&](auto& value) { value.add_double(AnyValueField::double_value, number); });
  }

  void mappings() {
    for (const Module& module : recording_.modules) {
      std::string message;
      MessageBuilder<MappingField> out(message);
      out.add_uint64(MappingField::memory_start, module.base);
      out.add_uint64(MappingField::memory_limit, module.base + module.size);
      out.add_int32(MappingField::filename_strindex, string(module.path));
      Indices indices;
      if (const auto hash = htlhash(module, images_)) {
        indices.push_back(attribute("process.executable.build_id.htlhash", *hash));
      }
      if (const std::string id = module.code_view ? build_id(*module.code_view) : ""; !id.empty()) {
        indices.push_back(attribute("process.executable.build_id.gnu", id));
      }
      if (!indices.empty()) {
        out.add_packed_int32(MappingField::attribute_indices, indices.begin(), indices.end());
      }
      mapping_.push_back(mappings_.index(std::move(message)));
    }
  }

  std::int32_t function(const ShownStacks::Frame& frame) {
    std::string message;
    MessageBuilder<FunctionField> out(message);
    out.add_int32(FunctionField::name_strindex, string(frame.label));
    if (const std::string_view system_name = frame.system_name(); !system_name.empty()) {
      out.add_int32(FunctionField::system_name_strindex, string(system_name));
    }
    if (frame.frame != nullptr && !frame.frame->file.empty()) {
      out.add_int32(FunctionField::filename_strindex, string(frame.frame->file));
    }
    return functions_.index(std::move(message));
  }

  void locations() {
    for (const Location& location : locations_.locations()) {
      std::string message;
      MessageBuilder<LocationField> out(message);
      if (location.module != Frame::kNone) {
        out.add_int32(LocationField::mapping_index,
                      mapping_[static_cast<std::size_t>(location.module)]);
      }
      if (location.address != 0) out.add_uint64(LocationField::address, location.address);
      for (const std::uint32_t index : location.frames) {
        const ShownStacks::Frame& frame = stacks_.frames()[index];
        if (!frame.named()) continue;
        const std::int32_t function_index = function(frame);
        MessageBuilder<LineField> line(out, LocationField::lines);
        line.add_int32(LineField::function_index, function_index);
        if (frame.frame != nullptr && frame.frame->line != 0) {
          line.add_int64(LineField::line, frame.frame->line);
        }
      }
      const Frame* real = stacks_.frames()[location.frames.back()].frame;
      if (real != nullptr && real->kind != FrameKind::gap) {
        const Indices indices = {attribute(
            "profile.frame.type", real->kind == FrameKind::native ? "native" : "dotnet")};
        out.add_packed_int32(LocationField::attribute_indices, indices.begin(), indices.end());
      }
      location_.push_back(location_table_.index(std::move(message)));
    }
  }

  void resource_profiles(MessageBuilder<RequestField>& request) {
    MessageBuilder<ResourceProfilesField> out(request, RequestField::resource_profiles);
    resource(out);
    MessageBuilder<ScopeProfilesField> scope_profiles(out, ResourceProfilesField::scope_profiles);
    {
      MessageBuilder<ScopeField> scope(scope_profiles, ScopeProfilesField::scope);
      scope.add_string(ScopeField::name, "mixwalk");
      const std::string version = valid_utf8(recording_.tool_version);
      if (!version.empty()) scope.add_string(ScopeField::version, version);
    }
    profile(scope_profiles);
  }

  void resource(MessageBuilder<ResourceProfilesField>& parent) {
    MessageBuilder<ResourceField> out(parent, ResourceProfilesField::resource);
    const auto pair = [&](std::string_view name, const auto& write_value) {
      const auto& given = options_.attributes;  // a name may occur only once
      if (std::ranges::find(given, name, &NameValue::name) != given.end()) return;
      MessageBuilder<KeyValueField> attribute(out, ResourceField::attributes);
      attribute.add_string(KeyValueField::key, name.data(), name.size());
      MessageBuilder<AnyValueField> value(attribute, KeyValueField::value);
      write_value(value);
    };
    const auto text = [&pair](std::string_view name, const std::string& content) {
      if (content.empty()) return;
      pair(name, [&](auto& value) {
        value.add_string(AnyValueField::string_value, valid_utf8(content));
      });
    };
    for (const auto& [name, value] : options_.attributes) {
      MessageBuilder<KeyValueField> attribute(out, ResourceField::attributes);
      attribute.add_string(KeyValueField::key, valid_utf8(name));
      MessageBuilder<AnyValueField> any_value(attribute, KeyValueField::value);
      any_value.add_string(AnyValueField::string_value, valid_utf8(value));
    }
    const std::string executable = module_name({.path = recording_.process.path});
    text("service.name", "unknown_service" + (executable.empty() ? "" : ":" + executable));
    const Runtime& runtime = recording_.runtime;
    pair("process.pid", [&](auto& value) {
      value.add_int64(AnyValueField::int_value, recording_.process.id);
    });
    text("process.executable.name", executable);
    text("process.executable.path", recording_.process.path);
    if (options_.command_line) text("process.command_line", recording_.process.command_line);
    text("process.runtime.name", runtime.name);
    text("process.runtime.version", fmt::format("{}.{}.{}.{}", runtime.major, runtime.minor,
                                                runtime.build, runtime.revision));
    text("host.name", recording_.process.host);
    text("os.type", "windows");
  }

  void value_type(MessageBuilder<ProfileField>& out, ProfileField field, std::string_view unit_name) {
    MessageBuilder<ValueTypeField> type(out, field);
    type.add_int32(ValueTypeField::type_strindex, string(enum_name(recording_.event)));
    type.add_int32(ValueTypeField::unit_strindex, string(unit_name));
  }

  void profile(MessageBuilder<ScopeProfilesField>& parent) {
    MessageBuilder<ProfileField> out(parent, ScopeProfilesField::profiles);
    value_type(out, ProfileField::sample_type, shown_.unit);
    samples(out);
    if (begin_ns_ != 0) out.add_fixed64(ProfileField::time_unix_nano, begin_ns_);
    if (recording_.duration_ns != 0) {
      out.add_uint64(ProfileField::duration_nano, recording_.duration_ns);
    }
    if (recording_.period_ns != 0) {
      value_type(out, ProfileField::period_type, "nanoseconds");
      out.add_int64(ProfileField::period, clamped(recording_.period_ns));
    }
    if (const auto reached = reached_hz(recording_)) {
      const Indices indices = {attribute("mixwalk.reached_hz", *reached)};
      out.add_packed_int32(ProfileField::attribute_indices, indices.begin(), indices.end());
    }
    const OtlpProfileId id = options_.profile_id ? *options_.profile_id : digest_so_far();
    out.add_bytes(ProfileField::profile_id, reinterpret_cast<const char*>(id.data()), id.size());
  }

  // A digest of the resource and the profile. The dictionary is not written yet, but two profiles of one process always
  // differ in their times or samples.
  OtlpProfileId digest_so_far() const {
    const auto digest = sha256(std::as_bytes(std::span(document_)));
    OtlpProfileId id;
    std::copy_n(digest.begin(), id.size(), id.begin());
    return id;
  }

  // For each sample, the index of its stack in the table.
  std::vector<std::int32_t> sample_stacks() {
    std::vector<std::int32_t> of_node(stacks_.nodes().size(), 0);
    std::vector<std::int32_t> of_sample;
    of_sample.reserve(recording_.samples.size());
    Indices indices;
    for (const std::uint32_t leaf : stacks_.leaves()) {
      if (of_node[leaf] == 0) {
        indices.clear();
        for (const std::uint32_t i : locations_.of_stack(leaf)) indices.push_back(location_[i]);
        std::string message;
        MessageBuilder<StackField> out(message);
        out.add_packed_int32(StackField::location_indices, indices.begin(), indices.end());
        of_node[leaf] = stack_table_.index(std::move(message));
      }
      of_sample.push_back(of_node[leaf]);
    }
    return of_sample;
  }

  void samples(MessageBuilder<ProfileField>& profile) {
    const std::vector<std::int32_t> stacks = sample_stacks();
    std::vector<Indices> threads;
    for (std::size_t i = 0; i < shown_.threads.size(); ++i) {
      threads.push_back({attribute("thread.id", std::int64_t{recording_.threads[i].os_id}),
                         attribute("thread.name", shown_.threads[i].label)});
    }
    // Two recorded threads can be one thread here, if the thread began to run managed code later.
    const auto same = [&](std::uint32_t a, std::uint32_t b) {
      return stacks[a] == stacks[b] && recording_.samples[a].standing == recording_.samples[b].standing &&
             threads[recording_.samples[a].thread] == threads[recording_.samples[b].thread];
    };
    std::vector<std::uint32_t> order(recording_.samples.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      const auto& thread_a = threads[recording_.samples[a].thread];
      const auto& thread_b = threads[recording_.samples[b].thread];
      if (thread_a != thread_b) return thread_a < thread_b;
      if (stacks[a] != stacks[b]) return stacks[a] < stacks[b];
      return recording_.samples[a].standing < recording_.samples[b].standing;
    });
    std::vector<std::int64_t> values;
    std::vector<std::uint64_t> times;
    for (auto first = order.begin(); first != order.end();) {
      const auto last = std::find_if_not(first, order.end(),
                                         [&](std::uint32_t i) { return same(*first, i); });
      values.clear();
      times.clear();
      for (auto i = first; i != last; ++i) {
        values.push_back(clamped(recording_.samples[*i].value));
        times.push_back(begin_ns_ + std::min(recording_.samples[*i].time_ns, kLastNs - begin_ns_));
      }
      Indices indices = threads[recording_.samples[*first].thread];
      if (const Standing standing = recording_.samples[*first].standing; standing != Standing::unknown) {
        indices.push_back(attribute("mixwalk.standing", enum_name(standing)));
      }
      MessageBuilder<SampleField> out(profile, ProfileField::samples);
      out.add_int32(SampleField::stack_index, stacks[*first]);
      out.add_packed_int32(SampleField::attribute_indices, indices.begin(), indices.end());
      out.add_packed_int64(SampleField::values, values.begin(), values.end());
      out.add_packed_fixed64(SampleField::timestamps_unix_nano, times.begin(), times.end());
      first = last;
    }
  }

  void dictionary(MessageBuilder<RequestField>& request) {
    MessageBuilder<DictionaryField> out(request, RequestField::dictionary);
    mappings_.write(out, DictionaryField::mapping_table);
    location_table_.write(out, DictionaryField::location_table);
    functions_.write(out, DictionaryField::function_table);
    {
      // The only link is not an empty message, because decoders also check the lengths of ids that are not set.
      MessageBuilder<LinkField> link(out, DictionaryField::link_table);
      link.add_bytes(LinkField::trace_id, std::string(16, '\0'));
      link.add_bytes(LinkField::span_id, std::string(8, '\0'));
    }
    for (const std::string& text : strings_.strings()) {
      out.add_string(DictionaryField::string_table, text);
    }
    attributes_.write(out, DictionaryField::attribute_table);
    stack_table_.write(out, DictionaryField::stack_table);
  }

  const ShownRecording& shown_;
  const Recording& recording_;
  ImageFiles& images_;
  const OtlpOptions& options_;
  std::string document_;
  const ShownStacks& stacks_;
  Locations locations_;
  std::uint64_t begin_ns_ = 0;
  StringTable strings_;
  Table mappings_, location_table_, functions_, attributes_, stack_table_;
  Indices mapping_, location_;  // for each module and location, its index in the table
};

}  // namespace

bool write_otlp(const ShownRecording& shown, ImageFiles& images, ByteSink& sink, const OtlpOptions& options) {
  return sink.write(OtlpWriter(shown, images, options).document());
}

}  // namespace mixwalk
