#include "walker/store/recording_writer.h"

#include <algorithm>
#include <utility>

#include "walker/base/checked_protozero.h"
#include "walker/store/layout.h"
#include "walker/store/record.h"

namespace mixwalk {
namespace {


// A chunk is written when it has this many bytes. A torn file loses at most this much, and one long name.
constexpr std::size_t kFullBytes = 1 << 20;
// Packed columns are written in parts of this many values.
constexpr std::size_t kColumnLength = 1 << 16;

template <class Enum>
std::uint32_t number(Enum value) {
  return static_cast<std::uint32_t>(value);
}

// A reader assumes zero for a missing field, so zero is not written. Rows of tables have their first field
// nevertheless, because protozero leaves out a message without any fields, while the position of a row has a meaning.
template <class Field>
void add(MessageBuilder<Field>& out, Field field, std::uint64_t value) {
  if (value != 0) out.add_uint64(field, value);
}
template <class Field>
void add(MessageBuilder<Field>& out, Field field, std::string_view text) {
  if (!text.empty()) out.add_bytes(field, text.data(), text.size());
}

template <class Field>
void add(MessageBuilder<Field>& out, Field field, const std::optional<CodeViewId>& id) {
  using layout::CodeViewField;
  if (!id) return;
  MessageBuilder<CodeViewField> inner(out, field);
  inner.add_bytes(CodeViewField::guid, reinterpret_cast<const char*>(id->guid.data()), id->guid.size());
  add(inner, CodeViewField::age, id->age);
  add(inner, CodeViewField::path, id->path);
  add(inner, CodeViewField::timestamp, id->timestamp);
  add(inner, CodeViewField::portable, id->portable);
}

template <class Field>
void add(MessageBuilder<Field>& out, Field field, const Lock& lock) {
  using layout::LockField, layout::WaiterField;
  MessageBuilder<LockField> inner(out, field);
  inner.add_uint64(LockField::kind, number(lock.kind));
  add(inner, LockField::address, lock.address);
  add(inner, LockField::type, lock.type);
  add(inner, LockField::owner, lock.owner);
  add(inner, LockField::held, lock.held);
  add(inner, LockField::recursion, lock.recursion);
  for (const LockWaiter& waiter : lock.waiters) {
    MessageBuilder<WaiterField> each(inner, LockField::waiter);
    each.add_uint64(WaiterField::os_id, waiter.os_id);
    add(each, WaiterField::pulse, waiter.pulse);
  }
}

// Writes one packed column, with `value(i)` of each of the rows.
template <class Packed, class Value>
void add_column(MessageBuilder<layout::Chunk>& out, layout::Chunk field, std::size_t rows,
                Value value) {
  Packed column(out, number(field));
  for (std::size_t i = 0; i < rows; ++i) column.add_element(value(i));
}

// An index or none as a small number.
std::uint32_t plus_one(std::uint32_t index) { return index + 1; }
static_assert(Recording::kNone + 1 == 0);

}  // namespace

bool RecordingWriter::begin(const Recording& header) {
  using layout::Header, layout::ProcessField, layout::RuntimeField;
  std::string content;
  MessageBuilder<Header> out(content);
  add(out, Header::version, layout::version_for(header.event));
  add(out, Header::tool, header.tool_version);
  add(out, Header::unix_time_ms, header.unix_time_ms);
  add(out, Header::period_ns, header.period_ns);
  add(out, Header::event, number(header.event));
  add(out, Header::engine, number(header.engine));
  {
    MessageBuilder<ProcessField> process(out, Header::process);
    add(process, ProcessField::id, header.process.id);
    add(process, ProcessField::path, header.process.path);
    add(process, ProcessField::command_line, header.process.command_line);
  }
  {
    MessageBuilder<RuntimeField> runtime(out, Header::runtime);
    add(runtime, RuntimeField::name, header.runtime.name);
    add(runtime, RuntimeField::major, header.runtime.major);
    add(runtime, RuntimeField::minor, header.runtime.minor);
    add(runtime, RuntimeField::build, header.runtime.build);
    add(runtime, RuntimeField::revision, header.runtime.revision);
  }
  return write(layout::kMagic) && write(encode_record(layout::File::header, std::move(content)));
}

bool RecordingWriter::append(const Recording& recording) {
  if (!within_limits(recording)) return false;
  add_tables(recording);
  add_locks(recording);
  add_frames(recording);
  add_nodes(recording);
  add_samples(recording);
  add_progress(recording);
  flush();
  return !refused_;
}

bool RecordingWriter::end(const Recording& recording) {
  const bool appended = append(recording);
  std::string content;
  MessageBuilder<layout::Footer> out(content);
  add(out, layout::Footer::duration_ns, recording.duration_ns);
  add(out, layout::Footer::dropped, recording.dropped);
  return write(encode_record(layout::File::footer, std::move(content))) && appended;
}

bool RecordingWriter::within_limits(const Recording& recording) {
  if (!problem_.empty() || refused_) return false;
  const std::uint64_t samples = all_samples_ + (recording.samples.size() - samples_);
  if (recording.modules.size() > layout::kMaxModules) problem_ = "too many modules";
  if (recording.assemblies.size() > layout::kMaxAssemblies) problem_ = "too many assemblies";
  if (recording.threads.size() > layout::kMaxThreads) problem_ = "too many threads";
  if (recording.details.size() > layout::kMaxDetails) problem_ = "too many details";
  std::size_t locks = 0, waiters = 0, times = 0;
  const auto count = [&](const std::vector<Lock>& some) {
    locks += some.size();
    for (const Lock& lock : some) waiters += lock.waiters.size();
  };
  count(recording.locks);
  for (const Recording::EarlierDump& dump : recording.earlier_dumps) {
    count(dump.locks);
    times += dump.cpu.size();
  }
  if (locks > layout::kMaxLocks || waiters > layout::kMaxWaiters) problem_ = "too many locks";
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

void RecordingWriter::add_tables(const Recording& recording) {
  using layout::AssemblyField, layout::Chunk, layout::ModuleField, layout::ThreadField, layout::ThreadNameField;
  MessageBuilder<Chunk> out(chunk_);
  for (; modules_ < recording.modules.size(); ++modules_) {
    const Module& module = recording.modules[modules_];
    {
      MessageBuilder<ModuleField> inner(out, Chunk::module);
      inner.add_uint64(ModuleField::base, module.base);
      add(inner, ModuleField::size, module.size);
      add(inner, ModuleField::timestamp, module.timestamp);
      add(inner, ModuleField::path, module.path);
      add(inner, ModuleField::code_view, module.code_view);
    }
    flush_full();
  }
  for (; assemblies_ < recording.assemblies.size(); ++assemblies_) {
    const Assembly& assembly = recording.assemblies[assemblies_];
    {
      MessageBuilder<AssemblyField> inner(out, Chunk::assembly);
      inner.add_bytes(AssemblyField::path, assembly.path.data(), assembly.path.size());
      inner.add_bytes(AssemblyField::mvid, reinterpret_cast<const char*>(assembly.mvid.data()),
                      assembly.mvid.size());
      add(inner, AssemblyField::optimised, assembly.optimised);
      add(inner, AssemblyField::pdb, assembly.pdb);
    }
    flush_full();
  }
  for (std::size_t i = 0; i < thread_names_.size(); ++i) {
    const std::string& name = recording.threads[i].name;
    if (name == thread_names_[i]) continue;
    {
      MessageBuilder<ThreadNameField> inner(out, Chunk::thread_name);
      inner.add_uint64(ThreadNameField::thread, i);
      add(inner, ThreadNameField::name, name);
    }
    thread_names_[i] = name;
    flush_full();
  }
  while (thread_names_.size() < recording.threads.size()) {
    const Recording::ThreadInfo& thread = recording.threads[thread_names_.size()];
    {
      MessageBuilder<ThreadField> inner(out, Chunk::thread);
      inner.add_uint64(ThreadField::os_id, thread.os_id);
      add(inner, ThreadField::clr_id, thread.clr_id);
      add(inner, ThreadField::name, thread.name);
      add(inner, ThreadField::created, thread.created);
      if (thread.cpu) add(inner, ThreadField::cpu, *thread.cpu + 1);
    }
    thread_names_.push_back(thread.name);
    flush_full();
  }
  for (; details_ < recording.details.size(); ++details_) {
    const std::string& text = recording.details[details_];
    out.add_bytes(Chunk::detail, text.data(), text.size());  // also if it is empty, because its position has a meaning
    flush_full();
  }
}

void RecordingWriter::add_locks(const Recording& recording) {
  using layout::Chunk, layout::EarlierDumpField;
  if (recording.event != SampleEvent::dump) return;
  MessageBuilder<Chunk> out(chunk_);
  for (; locks_ < recording.locks.size(); ++locks_) {
    const Lock& lock = recording.locks[locks_];
    add(out, Chunk::lock, lock);
    flush_full();
  }
  for (; earlier_dumps_ < recording.earlier_dumps.size(); ++earlier_dumps_) {
    const Recording::EarlierDump& dump = recording.earlier_dumps[earlier_dumps_];
    {
      MessageBuilder<EarlierDumpField> inner(out, Chunk::earlier_dump);
      inner.add_uint64(EarlierDumpField::time_ns, dump.time_ns);
      if (!dump.cpu.empty()) {
        protozero::packed_field_uint64 times(inner, number(EarlierDumpField::cpu));
        for (const auto& cpu : dump.cpu) times.add_element(cpu ? *cpu + 1 : 0);
      }
      for (const Lock& lock : dump.locks) add(inner, EarlierDumpField::lock, lock);
      add(inner, EarlierDumpField::locks_missing, dump.locks_missing);
      add(inner, EarlierDumpField::unasked, dump.unasked);
    }
    flush_full();
  }
  if (recording.unasked != unasked_) add(out, Chunk::unasked, unasked_ = recording.unasked);
  if (recording.some_threads && !std::exchange(some_threads_, true)) out.add_uint64(Chunk::some_threads, 1);
  if (locks_missing_ == recording.locks_missing) return;
  locks_missing_ = recording.locks_missing;
  if (recording.locks_missing.empty()) {
    out.add_uint64(Chunk::locks_known, 1);
  } else {
    add(out, Chunk::locks_missing, recording.locks_missing);
  }
}

void RecordingWriter::add_frames(const Recording& recording) {
  using layout::Chunk, layout::FrameField;
  MessageBuilder<Chunk> out(chunk_);
  for (; frames_ < recording.frames.size(); ++frames_) {
    const Frame& frame = recording.frames[frames_];
    {
      MessageBuilder<FrameField> inner(out, Chunk::frame);
      inner.add_uint64(FrameField::kind, number(frame.kind));
      // Earlier readers know only one kind of guess.
      const bool by_frame_pointer = frame.trust == Trust::frame_pointer;
      add(inner, FrameField::trust, number(by_frame_pointer ? Trust::scan : frame.trust));
      add(inner, FrameField::by_frame_pointer, by_frame_pointer);
      add(inner, FrameField::target, frame.target);
      add(inner, FrameField::address_kind, number(frame.address_kind));
      add(inner, FrameField::why, number(frame.why));
      add(inner, FrameField::inline_depth, frame.inline_depth);
      add(inner, FrameField::address, frame.address);
      add(inner, FrameField::function, frame.function);
      add(inner, FrameField::module, plus_one(static_cast<std::uint32_t>(frame.module)));
      add(inner, FrameField::displacement, frame.displacement);
      add(inner, FrameField::name, frame.name);
      add(inner, FrameField::symbol, number(frame.symbol));
      add(inner, FrameField::file, frame.file);
      add(inner, FrameField::line, frame.line);
      if (frame.folded != 1) inner.add_uint64(FrameField::folded, frame.folded);
      add(inner, FrameField::line_approximate, frame.line_approximate);
      add(inner, FrameField::assembly, plus_one(static_cast<std::uint32_t>(frame.il.assembly)));
      add(inner, FrameField::method, frame.il.method);
      add(inner, FrameField::il_offset, frame.il.offset);
    }
    flush_full();
  }
}

void RecordingWriter::add_nodes(const Recording& recording) {
  using layout::Chunk;
  while (nodes_ < recording.nodes.size()) {
    const std::size_t rows = std::min(recording.nodes.size() - nodes_, kColumnLength);
    const Recording::Node* const nodes = &recording.nodes[nodes_];
    MessageBuilder<Chunk> out(chunk_);
    add_column<protozero::packed_field_uint32>(out, Chunk::node_caller, rows, [&](std::size_t i) {
      const std::uint32_t parent = nodes[i].parent;
      return parent == Recording::kNone ? 0 : static_cast<std::uint32_t>(nodes_ + i) - parent;
    });
    std::uint32_t before = 0;
    add_column<protozero::packed_field_sint32>(out, Chunk::node_frame, rows, [&](std::size_t i) {
      return static_cast<std::int32_t>(nodes[i].frame - std::exchange(before, nodes[i].frame));
    });
    nodes_ += rows;
    if (nodes_ < recording.nodes.size()) flush();  // a chunk may have each column only once
  }
}

void RecordingWriter::add_samples(const Recording& recording) {
  using layout::Chunk;
  while (samples_ < recording.samples.size()) {
    const std::size_t rows = std::min(recording.samples.size() - samples_, kColumnLength);
    const Recording::Sample* const samples = &recording.samples[samples_];
    MessageBuilder<Chunk> out(chunk_);
    std::uint64_t time = 0, value = 0;
    add_column<protozero::packed_field_uint64>(out, Chunk::sample_time, rows, [&](std::size_t i) {
      return samples[i].time_ns - std::exchange(time, samples[i].time_ns);
    });
    add_column<protozero::packed_field_uint32>(out, Chunk::sample_thread, rows,
                                               [&](std::size_t i) { return samples[i].thread; });
    add_column<protozero::packed_field_uint32>(
        out, Chunk::sample_stack, rows, [&](std::size_t i) { return plus_one(samples[i].stack); });
    add_column<protozero::packed_field_sint64>(out, Chunk::sample_value, rows, [&](std::size_t i) {
      return static_cast<std::int64_t>(samples[i].value - std::exchange(value, samples[i].value));
    });
    const bool detailed = std::any_of(samples, samples + rows, [](const auto& sample) {
      return sample.detail != Recording::kNone;
    });
    if (detailed) {
      add_column<protozero::packed_field_uint32>(
          out, Chunk::sample_detail, rows,
          [&](std::size_t i) { return plus_one(samples[i].detail); });
    }
    samples_ += rows;
    all_samples_ += rows;
    if (samples_ < recording.samples.size()) flush();
  }
}

// Writes how far the recording has progressed, for readers of a truncated file.
void RecordingWriter::add_progress(const Recording& recording) {
  MessageBuilder<layout::Chunk> out(chunk_);
  if (recording.duration_ns != std::exchange(duration_ns_, recording.duration_ns)) {
    out.add_uint64(layout::Chunk::duration_ns, recording.duration_ns);
  }
  if (recording.dropped != std::exchange(dropped_, recording.dropped)) {
    out.add_uint64(layout::Chunk::dropped, recording.dropped);
  }
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

}  // namespace mixwalk
