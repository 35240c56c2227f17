#include "walker/store/recording_writer.h"

#include <algorithm>
#include <utility>

#include "walker/store/layout.h"
#include "walker/store/record.h"
#include "walker/store/table_rows.h"
#include "walker/wire/message_io.h"

namespace mixwalk {
namespace {

namespace chunk = layout::chunk;

// A chunk is written when it has this many bytes. A torn file loses at most this much, and one long name.
constexpr std::size_t kFullBytes = 1 << 20;
// Packed columns are written in parts of this many values.
constexpr std::size_t kColumnLength = 1 << 16;

// Writes one packed column, with `value(i)` of each of the rows.
template <class Packed, class Value>
void add_column(protozero::pbf_writer& out, MessageIO::Number field, std::size_t rows, Value value) {
  Packed column(out, field);
  for (std::size_t i = 0; i < rows; ++i) column.add_element(value(i));
}

// An index or none as a small number.
std::uint32_t plus_one(std::uint32_t index) { return index + 1; }
static_assert(Recording::kNone + 1 == 0);

}  // namespace

bool RecordingWriter::begin(const Recording& header) {
  std::string content;
  write_message(content, header, [](MessageIO& io, Recording& recording) {
    std::uint64_t version = layout::version_for(recording.event);
    header_fields(io, version, recording);
  });
  return write(layout::kMagic) && write(encode_record(layout::File::header, std::move(content)));
}

bool RecordingWriter::append(const Recording& recording) {
  if (!within_limits(recording)) return false;
  add_tables(recording);
  add_locks(recording);
  add_rows(chunk::frame, recording.frames, frames_);
  add_nodes(recording);
  add_samples(recording);
  add_progress(recording);
  flush();
  return !refused_;
}

bool RecordingWriter::end(const Recording& recording) {
  const bool appended = append(recording);
  std::string content;
  write_message(content, recording, footer_fields);
  return write(encode_record(layout::File::footer, std::move(content))) && appended;
}

bool RecordingWriter::within_limits(const Recording& recording) {
  if (!problem_.empty() || refused_) return false;
  const std::uint64_t samples = all_samples_ + (recording.samples.size() - samples_);
  if (recording.modules.size() > layout::kMaxModules) problem_ = "too many modules";
  if (recording.assemblies.size() > layout::kMaxAssemblies) problem_ = "too many assemblies";
  if (recording.threads.size() > layout::kMaxThreads) problem_ = "too many threads";
  if (recording.details.size() > layout::kMaxDetails) problem_ = "too many details";
  std::size_t locks = 0, waiters = 0, sharers = 0, times = 0, tasks = 0, task_numbers = 0, exceptions = 0;
  const auto count = [&](const std::vector<Lock>& some, const Recording::AsyncWork& work,
                         const std::vector<Recording::Handled>& handled) {
    locks += some.size();
    for (const Lock& lock : some) {
      waiters += lock.waiters.size();
      sharers += lock.sharers.size();
      task_numbers += lock.task_holders.size();
    }
    tasks += work.tasks.size() + work.contexts.size() + work.pool.items.size();
    task_numbers += work.waits.size() + work.traits.size() + work.queue_positions.size();
    for (const AsyncTask& task : work.tasks) task_numbers += task.awaits.size();
    for (const Recording::Handled& each : handled) exceptions += each.exception.objects.size() + 1;
  };
  count(recording.locks, recording.async, recording.handled);
  for (const Recording::EarlierDump& dump : recording.earlier_dumps) {
    count(dump.locks, dump.async, dump.handled);
    times += dump.cpu.size();
  }
  if (locks > layout::kMaxLocks || waiters > layout::kMaxWaiters || sharers > layout::kMaxSharers) {
    problem_ = "too many locks";
  }
  if (tasks > layout::kMaxTasks || task_numbers > layout::kMaxTaskNumbers) problem_ = "too many tasks";
  if (exceptions > layout::kMaxExceptions) problem_ = "too many exceptions";
  if (recording.earlier_dumps.size() > layout::kMaxEarlierDumps) problem_ = "too many dumps";
  if (times > layout::kMaxCpuTimes) problem_ = "too many processor times";
  if (recording.frames.size() > layout::kMaxFrames) problem_ = "too many frames";
  if (recording.nodes.size() > layout::kMaxNodes) problem_ = "too many stacks";
  if (samples > layout::kMaxSamples) problem_ = "too many samples";
  if (!problem_.empty()) return false;
  for (std::size_t i = depths_.size(); i < recording.nodes.size(); ++i) {
    const std::uint32_t parent = recording.nodes[i].parent;
    depths_.push_back(parent == Recording::kNone ? 1 : depths_[parent] + 1);
    if (depths_.back() > layout::kMaxDepth) problem_ = "a stack is too deep";
  }
  return problem_.empty();
}

template <class Row>
void RecordingWriter::add_rows(std::uint32_t number, const std::vector<Row>& rows, std::size_t& written) {
  for (; written < rows.size(); ++written) {
    MessageIO(chunk_).put(number, rows[written], row_fields);
    flush_full();
  }
}

void RecordingWriter::add_tables(const Recording& recording) {
  add_rows(chunk::module, recording.modules, modules_);
  add_rows(chunk::assembly, recording.assemblies, assemblies_);
  for (std::size_t i = 0; i < thread_names_.size(); ++i) {
    const std::string& name = recording.threads[i].name;
    if (name == thread_names_[i]) continue;
    MessageIO(chunk_).put(chunk::thread_name, ThreadName{i, name}, row_fields);
    thread_names_[i] = name;
    flush_full();
  }
  for (std::size_t i = thread_names_.size(); i < recording.threads.size(); ++i) {
    thread_names_.push_back(recording.threads[i].name);
  }
  add_rows(chunk::thread, recording.threads, threads_);
  for (; details_ < recording.details.size(); ++details_) {
    std::string_view text = recording.details[details_];
    MessageIO(chunk_).bytes(chunk::detail, text);  // also if it is empty, because its position has a meaning
    flush_full();
  }
}

void RecordingWriter::add_locks(const Recording& recording) {
  if (recording.event != SampleEvent::dump) return;
  TableRoom room;  // within_limits() has counted
  MessageIO out(chunk_);
  const auto add = [&](MessageIO::Number number, const auto& row) {
    out.put(number, row, [&](MessageIO& inner, auto& it) { row_fields(inner, it, room); });
    flush_full();
  };
  for (; locks_ < recording.locks.size(); ++locks_) add(chunk::lock, recording.locks[locks_]);
  for (; earlier_dumps_ < recording.earlier_dumps.size(); ++earlier_dumps_) {
    add(chunk::earlier_dump, recording.earlier_dumps[earlier_dumps_]);
  }
  if (recording.unasked != unasked_) {
    unasked_ = recording.unasked;
    out.string(chunk::unasked, unasked_, "");
  }
  if (recording.async != Recording::AsyncWork() && !std::exchange(async_, true)) add(chunk::async, recording.async);
  for (; handled_ < recording.handled.size(); ++handled_) add(chunk::handled, recording.handled[handled_]);
  if (recording.crash && !std::exchange(crash_, true)) out.put(chunk::crash, *recording.crash, row_fields);
  bool yes = true;
  if (recording.some_threads && !std::exchange(some_threads_, true)) out.varint(chunk::some_threads, yes);
  if (locks_missing_ == recording.locks_missing) return;
  locks_missing_ = recording.locks_missing;
  if (locks_missing_->empty()) {
    out.varint(chunk::locks_known, yes);
  } else {
    out.string(chunk::locks_missing, *locks_missing_);
  }
}

void RecordingWriter::add_nodes(const Recording& recording) {
  while (nodes_ < recording.nodes.size()) {
    const std::size_t rows = std::min(recording.nodes.size() - nodes_, kColumnLength);
    const Recording::Node* const nodes = &recording.nodes[nodes_];
    protozero::pbf_writer out(chunk_);
    add_column<protozero::packed_field_uint32>(out, chunk::node_caller, rows, [&](std::size_t i) {
      const std::uint32_t parent = nodes[i].parent;
      return parent == Recording::kNone ? 0 : static_cast<std::uint32_t>(nodes_ + i) - parent;
    });
    std::uint32_t before = 0;
    add_column<protozero::packed_field_sint32>(out, chunk::node_frame, rows, [&](std::size_t i) {
      return static_cast<std::int32_t>(nodes[i].frame - std::exchange(before, nodes[i].frame));
    });
    nodes_ += rows;
    if (nodes_ < recording.nodes.size()) flush();  // a chunk may have each column only once
  }
}

void RecordingWriter::add_samples(const Recording& recording) {
  while (samples_ < recording.samples.size()) {
    const std::size_t rows = std::min(recording.samples.size() - samples_, kColumnLength);
    const Recording::Sample* const samples = &recording.samples[samples_];
    protozero::pbf_writer out(chunk_);
    std::uint64_t time = 0, value = 0;
    add_column<protozero::packed_field_uint64>(out, chunk::sample_time, rows, [&](std::size_t i) {
      return samples[i].time_ns - std::exchange(time, samples[i].time_ns);
    });
    add_column<protozero::packed_field_uint32>(out, chunk::sample_thread, rows,
                                               [&](std::size_t i) { return samples[i].thread; });
    add_column<protozero::packed_field_uint32>(
        out, chunk::sample_stack, rows, [&](std::size_t i) { return plus_one(samples[i].stack); });
    add_column<protozero::packed_field_sint64>(out, chunk::sample_value, rows, [&](std::size_t i) {
      return static_cast<std::int64_t>(samples[i].value - std::exchange(value, samples[i].value));
    });
    const bool detailed = std::any_of(samples, samples + rows, [](const auto& sample) {
      return sample.detail != Recording::kNone;
    });
    if (detailed) {
      add_column<protozero::packed_field_uint32>(
          out, chunk::sample_detail, rows,
          [&](std::size_t i) { return plus_one(samples[i].detail); });
    }
    const bool standing = std::any_of(samples, samples + rows, [](const auto& sample) {
      return sample.standing != Standing::unknown;
    });
    if (standing) {
      add_column<protozero::packed_field_uint32>(out, chunk::sample_standing, rows, [&](std::size_t i) {
        return static_cast<std::uint32_t>(samples[i].standing);
      });
    }
    samples_ += rows;
    all_samples_ += rows;
    if (samples_ < recording.samples.size()) flush();
  }
}

// Writes how far the recording has progressed, for readers of a truncated file.
void RecordingWriter::add_progress(const Recording& recording) {
  MessageIO out(chunk_);
  if (duration_ns_ != recording.duration_ns) out.varint(chunk::duration_ns, duration_ns_ = recording.duration_ns);
  if (dropped_ != recording.dropped) out.varint(chunk::dropped, dropped_ = recording.dropped);
}

void RecordingWriter::flush() {
  if (chunk_.empty()) return;
  write(encode_record(layout::File::chunk, std::move(chunk_)));
  chunk_.clear();
}

void RecordingWriter::flush_full() {
  if (chunk_.size() >= kFullBytes) flush();
}

bool RecordingWriter::write(std::string_view bytes) {
  refused_ = refused_ || !sink_.write(bytes);
  return !refused_;
}

bool write_store(const Recording& recording, ByteSink& sink) {
  RecordingWriter writer(sink);
  return writer.begin(recording) && writer.end(recording);
}

}  // namespace mixwalk
