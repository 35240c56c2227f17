#include "walker/report/recording_data.h"

#include <vector>

#include "walker/hang/thread_roles.h"
#include "walker/report/time_strips.h"
#include "walker/shown/words.h"

namespace mixwalk {

namespace {

void write_sums(const Recording& recording, bool fold, ReportTables& tables, JsonWriter& json) {
  json.field("time_ms", recording.unix_time_ms);
  json.field("event", enum_name(recording.event));
  json.field("unit", unit(recording.event));
  json.field("period_ns", recording.period_ns);
  json.field("duration_ns", recording.duration_ns);
  json.field("rate", rate_sentence(recording));
  json.field("dropped", recording.dropped);
  json.field("samples", recording.samples.size());
  const std::vector<ThreadRoles> roles = thread_roles(recording);
  std::size_t place = 0;
  json.array("threads", recording.threads, [&](const Recording::ThreadInfo& thread) {
    json.begin_object();
    json.field("id", thread.os_id);
    json.field("name", thread.name);
    if (const ThreadRoles its = roles[place++]; its.any()) json.field("role", role_words(its));
    json.field("managed", thread.clr_id != 0);
    json.end_object();
  });

  json.field("standings", standing_sentence(recording));
  // For each thread, stack and standing, five numbers in a row: thread, leaf, standing, samples, value.
  const std::vector<std::uint32_t> leaves = standing_leaves(recording, tables.add(recording, fold));
  json.array("sums", sum_samples(recording, leaves, true), [&](const SampleSum& sum) {
    json.value(sum.thread);
    json.value(leaf_in(sum.stack));
    json.value(static_cast<unsigned>(standing_in(sum.stack)));
    json.value(sum.count);
    json.value(sum.value);
  });
}

}  // namespace

void write_recording_data(const Recording& recording, bool fold, ReportTables& tables, JsonWriter& json) {
  json.begin_object();
  write_sums(recording, fold, tables, json);

  // A strip leads to whole stacks.
  const RecordedStacks stacks(recording);
  const std::uint32_t buckets = bucket_count(recording.threads.size());
  const std::vector<TimeStrip> strips =
      time_strips(recording, standing_leaves(recording, stacks.leaves()), buckets);
  std::vector<std::uint32_t> leaves;
  for (const TimeStrip& strip : strips) {
    for (const TimeStrip::Stretch& stretch : strip.stretches) leaves.push_back(leaf_in(stretch.stack));
  }
  const std::vector<std::uint32_t> nodes = tables.add(recording, stacks, leaves);
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

void write_compared_recording_data(const Recording& recording, std::string_view file, bool fold, ReportTables& tables,
                                   JsonWriter& json) {
  json.begin_object();
  json.field("file", file);
  json.field("process", recording.process.id);
  write_sums(recording, fold, tables, json);
  json.end_object();
}

}  // namespace mixwalk
