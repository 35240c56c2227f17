#include "walker/report/recording_data.h"

#include <vector>

#include "walker/report/time_strips.h"
#include "walker/shown/words.h"

namespace mixwalk {

namespace {

// The leaf node in `tables` of each sample.
std::vector<std::uint32_t> add_stacks(const Recording& recording, ReportTables& tables) {
  const RecordedStacks stacks(recording);
  const std::vector<std::uint32_t> nodes = tables.add(recording, stacks);
  std::vector<std::uint32_t> leaves;
  leaves.reserve(stacks.leaves().size());
  for (const std::uint32_t leaf : stacks.leaves()) leaves.push_back(nodes[leaf]);
  return leaves;
}

void write_sums(const Recording& recording, const std::vector<std::uint32_t>& leaves, JsonWriter& json) {
  json.field("time_ms", recording.unix_time_ms);
  json.field("event", enum_name(recording.event));
  json.field("unit", unit(recording.event));
  json.field("period_ns", recording.period_ns);
  json.field("duration_ns", recording.duration_ns);
  json.field("rate", rate_sentence(recording));
  json.field("dropped", recording.dropped);
  json.field("samples", recording.samples.size());
  json.array("threads", recording.threads, [&](const Recording::ThreadInfo& thread) {
    json.begin_object();
    json.field("id", thread.os_id);
    json.field("name", thread.name);
    json.field("managed", thread.clr_id != 0);
    json.end_object();
  });

  // For each thread and stack, four numbers in a row: thread, leaf, samples, value.
  json.array("sums", sum_samples(recording, leaves, true), [&](const SampleSum& sum) {
    json.value(sum.thread);
    json.value(sum.stack);
    json.value(sum.count);
    json.value(sum.value);
  });
}

}  // namespace

void write_recording_data(const Recording& recording, ReportTables& tables, JsonWriter& json) {
  const std::vector<std::uint32_t> leaves = add_stacks(recording, tables);
  json.begin_object();
  write_sums(recording, leaves, json);

  // For each thread, three numbers per stretch of time: first bucket, buckets, leaf.
  const std::uint32_t buckets = bucket_count(recording.threads.size());
  json.field("buckets", buckets);
  json.array("strips", time_strips(recording, leaves, buckets), [&](const TimeStrip& strip) {
    json.begin_array();
    for (const TimeStrip::Stretch& stretch : strip.stretches) {
      json.value(stretch.first);
      json.value(stretch.count);
      json.value(stretch.stack);
    }
    json.end_array();
  });
  json.end_object();
}

void write_compared_recording_data(const Recording& recording, std::string_view file, ReportTables& tables,
                                   JsonWriter& json) {
  const std::vector<std::uint32_t> leaves = add_stacks(recording, tables);
  json.begin_object();
  json.field("file", file);
  json.field("process", recording.process.id);
  write_sums(recording, leaves, json);
  json.end_object();
}

}  // namespace mixwalk
