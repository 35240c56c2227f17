#include "walker/report/recording_data.h"

#include "walker/export/words.h"
#include "walker/report/time_strips.h"

namespace mixwalk {

void write_recording_data(const Recording& recording, ReportTables& tables, JsonWriter& json) {
  const RecordedStacks stacks(recording);
  const std::vector<std::uint32_t> nodes = tables.add(recording, stacks);
  std::vector<std::uint32_t> leaves;
  leaves.reserve(stacks.leaves().size());
  for (const std::uint32_t leaf : stacks.leaves()) leaves.push_back(nodes[leaf]);

  json.begin_object();
  json.field("time_ms", recording.unix_time_ms);
  json.field("event", key(recording.event));
  json.field("unit", unit(recording.event));
  json.field("period_ns", recording.period_ns);
  json.field("duration_ns", recording.duration_ns);
  json.field("dropped", recording.dropped);
  json.field("samples", recording.samples.size());
  json.array("threads", recording.threads, [&](const Recording::ThreadInfo& thread) {
    json.begin_object();
    json.field("id", thread.os_id);
    json.field("name", thread.name);
    json.field("managed", thread.clr_id != 0);
    json.end_object();
  });

  // Of each thread and stack, four numbers in a row: thread, leaf, samples, value.
  json.array("sums", sum_samples(recording, leaves, true), [&](const SampleSum& sum) {
    json.value(sum.thread);
    json.value(sum.stack);
    json.value(sum.count);
    json.value(sum.value);
  });

  // Of each thread, three numbers for a stretch of time: first bucket, buckets, leaf.
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

}  // namespace mixwalk
