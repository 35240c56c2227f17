#include "walker/report/recording_data.h"

#include <vector>

#include "walker/report/time_strips.h"
#include "walker/shown/words.h"

namespace mixwalk {
namespace {

void write_sums(const ShownRecording& shown, ReportTables& tables, JsonWriter& json) {
  const Recording& recording = shown.recording;
  json.field("time_ms", recording.unix_time_ms);
  json.field("event", enum_name(recording.event));
  json.field("unit", shown.unit);
  json.field("period_ns", recording.period_ns);
  json.field("duration_ns", recording.duration_ns);
  json.field("rate", shown.rate);
  json.field("dropped", recording.dropped);
  json.field("samples", recording.samples.size());
  std::size_t place = 0;
  json.array("threads", recording.threads, [&](const Recording::ThreadInfo& thread) {
    json.begin_object();
    json.field("id", thread.os_id);
    json.field("name", thread.name);
    if (const std::string_view role = shown.threads[place++].role; !role.empty()) json.field("role", role);
    json.field("managed", thread.clr_id != 0);
    json.end_object();
  });

  json.field("standings", shown.standings);
  // For each thread, stack and standing, five numbers in a row: thread, leaf, standing, samples, value.
  const std::vector<std::uint32_t> leaves = tables.add(shown.stacks, shown.stacks.folded());
  json.array("sums", sum_samples(recording, standing_leaves(recording, leaves), true), [&](const SampleSum& sum) {
    json.value(sum.thread);
    json.value(leaf_in(sum.stack));
    json.value(static_cast<unsigned>(standing_in(sum.stack)));
    json.value(sum.count);
    json.value(sum.value);
  });
}

}  // namespace

void write_recording_data(const ShownRecording& shown, ReportTables& tables, JsonWriter& json) {
  json.begin_object();
  write_sums(shown, tables, json);

  // A strip leads to whole stacks.
  const std::uint32_t buckets = bucket_count(shown.threads.size());
  const std::vector<TimeStrip> strips =
      time_strips(shown.recording, standing_leaves(shown.recording, shown.stacks.leaves()), buckets);
  std::vector<std::uint32_t> leaves;
  for (const TimeStrip& strip : strips) {
    for (const TimeStrip::Stretch& stretch : strip.stretches) leaves.push_back(leaf_in(stretch.stack));
  }
  const std::vector<std::uint32_t> nodes = tables.add(shown.stacks, shown.stacks.whole(), leaves);
  // For each thread, four numbers per stretch of time: first bucket, buckets, leaf, standing.
  json.field("buckets", buckets);
  json.array("strips", strips, [&](const TimeStrip& strip) {
    json.begin_array();
    for (const TimeStrip::Stretch& stretch : strip.stretches) {
      json.value(stretch.first);
      json.value(stretch.count);
      json.value(nodes[leaf_in(stretch.stack)]);
      json.value(static_cast<unsigned>(standing_in(stretch.stack)));
    }
    json.end_array();
  });
  json.end_object();
}

void write_compared_recording_data(const ShownRecording& shown, std::string_view file, ReportTables& tables,
                                   JsonWriter& json) {
  json.begin_object();
  json.field("file", file);
  json.field("process", shown.recording.process.id);
  write_sums(shown, tables, json);
  json.end_object();
}

}  // namespace mixwalk
