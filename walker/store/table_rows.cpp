#include "walker/store/table_rows.h"

#include <algorithm>
#include <limits>

#include "symbols/web_url.h"
#include "walker/store/layout.h"

namespace mixwalk {
namespace {

// Indices that no module and no assembly has.
constexpr std::uint64_t kNoModule = layout::kMaxModules + 1;
constexpr std::uint64_t kNoAssembly = layout::kMaxAssemblies + 1;

void fields(MessageIO& io, Process& process) {
  io.varint(1, process.id, 0);
  io.string(2, process.path, "");
  io.string(3, process.command_line, "");
  io.string(4, process.host, "");
}

void fields(MessageIO& io, Runtime& runtime) {
  io.string(1, runtime.name, "");
  io.varint(2, runtime.major, 0);
  io.varint(3, runtime.minor, 0);
  io.varint(4, runtime.build, 0);
  io.varint(5, runtime.revision, 0);
}

void fields(MessageIO& io, CodeViewId& id) {
  io.guid(1, id.guid, "a PDB's id is no GUID");
  io.varint(2, id.age, 0);
  io.string(3, id.path, "");
  io.varint(4, id.timestamp, 0);
  io.varint(5, id.portable, false);
}

void fields(MessageIO& io, LockWaiter& waiter) {
  io.varint(1, waiter.os_id);
  io.varint(2, waiter.pulse, false);
}

// An index plus one; 0 for none. Whether there is such a row is checked when the whole chunk has been read. `beyond`:
// one that no row has.
void index(MessageIO& io, MessageIO::Number number, std::int32_t& index, std::uint64_t beyond) {
  std::uint64_t plus_one = static_cast<std::uint32_t>(index) + 1u;
  if (io.varint(number, plus_one, 0)) index = static_cast<std::int32_t>(std::min(plus_one, beyond)) - 1;
}

// A time plus one, because 0 is a time too; 0 for none.
std::uint64_t plus_one(const std::optional<std::uint64_t>& time) { return time ? *time + 1 : 0; }
std::optional<std::uint64_t> minus_one(std::uint64_t value) {
  return value == 0 ? std::nullopt : std::optional(value - 1);
}

void fields(MessageIO& io, CrashObject& object) {
  io.string(1, object.type);
  io.string(2, object.message, "");
  io.repeated(3, object.trace, kMaxCrashTrace, [&](std::string& frame) { io.string(3, frame); });
  io.varint(4, object.hresult, 0);
}

constexpr const char* kTooManyTasks = "there are too many tasks";

void take(MessageIO& io, std::size_t& room, const char* why) {
  if (io.is_writing()) return;
  require(room != 0, why);
  --room;
}

// The numbers are those of a packed field.
template <class Value, class To, class From>
void numbers(MessageIO& io, MessageIO::Number number, std::vector<Value>& values, TableRoom& room, To to, From from) {
  io.packed_varints(number, values, to, [&](std::uint64_t value) {
    take(io, room.task_numbers, "there are too many numbers of tasks");
    return from(value);
  });
}

constexpr std::uint64_t itself(std::uint64_t value) { return value; }
// A number that no index can have is refused by check_indices().
constexpr std::uint32_t narrowed(std::uint64_t value) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(value, AsyncTask::kNone));
}
constexpr std::uint64_t index_plus_one(std::uint32_t index) { return index + 1u; }
constexpr std::uint32_t index_minus_one(std::uint64_t value) {
  return value == 0 ? AsyncTask::kNone : std::min(narrowed(value), AsyncTask::kNone - 1) - 1;
}

// An index plus one; 0 for none.
void task_index(MessageIO& io, MessageIO::Number number, std::uint32_t& index) {
  std::uint64_t value = index_plus_one(index);
  if (io.varint(number, value, 0)) index = index_minus_one(value);
}

// A number plus one; 0 for -1, which means unknown.
template <class Number>
void known_number(MessageIO& io, MessageIO::Number number, Number& value) {
  auto wide = static_cast<std::uint64_t>(std::max<Number>(value, -1)) + 1;
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<Number>::max());
  if (io.varint(number, wide, 0)) value = wide == 0 ? Number{-1} : static_cast<Number>(std::min(wide - 1, kMost));
}

void fields(MessageIO& io, AsyncTask& task, TableRoom& room) {
  io.varint(1, task.address);
  // A later mixwalk may know more kinds.
  auto kind = static_cast<std::uint64_t>(task.kind);
  if (io.varint(2, kind, 0)) {
    task.kind = kind <= static_cast<std::uint64_t>(kLastTaskKind) ? static_cast<TaskKind>(kind) : TaskKind::other;
  }
  io.enumeration(3, task.status, kLastTaskStatus, TaskStatus{});
  io.string(4, task.type, "");
  io.string(5, task.method, "");
  known_number(io, 6, task.await_number);
  io.string(7, task.file, "");
  io.varint(8, task.line, 0);
  if (io.string(9, task.source_url, "") && !is_web_url(task.source_url)) task.source_url.clear();
  numbers(io, 11, task.awaits, room, itself, narrowed);
  io.varint(12, task.awaits_left_out, 0);
  io.varint(13, task.object, 0);
  io.string(14, task.object_type, "");
  io.varint(15, task.thread, 0);
  task_index(io, 16, task.continues_on);
  io.varint(17, task.not_resumed, false);
  known_number(io, 18, task.due_ms);
}

void fields(MessageIO& io, AsyncContext& context) {
  io.varint(1, context.address);
  io.string(2, context.type, "");
  io.varint(3, context.thread, 0);
}

void fields(MessageIO& io, ThreadPoolState::Item& item) {
  io.varint(1, item.count);
  io.string(2, item.method, "");
  task_index(io, 3, item.task);
}

void fields(MessageIO& io, ThreadPoolState& pool, TableRoom& room) {
  known_number(io, 1, pool.queued);
  known_number(io, 2, pool.workers);
  known_number(io, 3, pool.working);
  known_number(io, 4, pool.goal);
  known_number(io, 5, pool.min);
  known_number(io, 6, pool.max);
  io.repeated(7, pool.items, io.kNoLimit, [&](ThreadPoolState::Item& item) {
    take(io, room.tasks, kTooManyTasks);
    io.message(7, item, fields);
  });
}

constexpr std::uint64_t bits_of(const ThreadTraits& traits) {
  return static_cast<std::uint64_t>(traits.main) | static_cast<std::uint64_t>(traits.pool) << 1 |
         static_cast<std::uint64_t>(traits.sta) << 2 | static_cast<std::uint64_t>(traits.mta) << 3 |
         static_cast<std::uint64_t>(traits.pumps) << 4 | static_cast<std::uint64_t>(traits.limited) << 5 |
         static_cast<std::uint64_t>(traits.unlimited) << 6;
}
constexpr ThreadTraits traits_of(std::uint64_t bits) {
  const auto has = [bits](unsigned bit) { return (bits >> bit & 1) != 0; };
  return {.main = has(0), .pool = has(1), .sta = has(2), .mta = has(3), .pumps = has(4), .limited = has(5),
          .unlimited = has(6)};
}

void check_indices(const Recording::AsyncWork& work) {
  const auto is_task = [&](std::uint32_t index) { return index < work.tasks.size(); };
  const auto is_task_or_none = [&](std::uint32_t index) { return index == AsyncTask::kNone || is_task(index); };
  for (const AsyncTask& task : work.tasks) {
    require(task.awaits.size() <= AsyncTask::kMaxAwaits, "a task waits for too many tasks");
    require(std::ranges::all_of(task.awaits, is_task), "an awaited task does not exist");
    require(task.continues_on == AsyncTask::kNone || task.continues_on < work.contexts.size(),
            "a task's context does not exist");
  }
  require(std::ranges::all_of(work.waits, is_task_or_none), "the task of a thread does not exist");
  require(std::ranges::all_of(work.pool.items, is_task_or_none, &ThreadPoolState::Item::task),
          "the task of a queue does not exist");
}

}  // namespace

void header_fields(MessageIO& io, std::uint64_t& version, Recording& header) {
  io.varint(1, version, 0);
  io.string(2, header.tool_version, "");
  io.varint(3, header.unix_time_ms, 0);
  io.varint(4, header.period_ns, 0);
  io.enumeration(5, header.event, layout::kLastEvent, SampleEvent{});
  io.enumeration(6, header.engine, layout::kLastEngine, Engine{});
  io.message(7, header.process, fields);
  io.message(8, header.runtime, fields);
}

void footer_fields(MessageIO& io, Recording& recording) {
  io.varint(1, recording.duration_ns, 0);
  io.varint(2, recording.dropped, 0);
}

void row_fields(MessageIO& io, Module& module) {
  io.varint(1, module.base);
  io.varint(2, module.size, 0);
  io.varint(3, module.timestamp, 0);
  io.string(4, module.path, "");
  io.message(5, module.code_view, fields);
}

void row_fields(MessageIO& io, Assembly& assembly) {
  io.string(1, assembly.path);
  io.guid(2, assembly.mvid, "an assembly's MVID is no GUID");
  io.varint(3, assembly.optimised, false);
  io.message(4, assembly.pdb, fields);
}

void row_fields(MessageIO& io, Recording::ThreadInfo& thread) {
  io.varint(1, thread.os_id);
  io.varint(2, thread.clr_id, 0);
  io.string(3, thread.name, "");
  io.varint(4, thread.created, 0);
  std::uint64_t cpu = plus_one(thread.cpu);
  if (io.varint(5, cpu, 0)) thread.cpu = minus_one(cpu);
}

void row_fields(MessageIO& io, ThreadName& name) {
  io.varint(1, name.thread);
  io.string(2, name.name, "");
}

void row_fields(MessageIO& io, Frame& frame) {
  io.enumeration(1, frame.kind, layout::kLastKind);
  // Earlier readers know only one kind of guess.
  bool by_frame_pointer = frame.trust == Trust::frame_pointer;
  Trust trust = by_frame_pointer ? Trust::scan : frame.trust;
  if (io.enumeration(2, trust, layout::kLastTrust, Trust{})) frame.trust = trust;
  if (io.varint(16, by_frame_pointer, false) && by_frame_pointer) frame.trust = Trust::frame_pointer;
  io.string(17, frame.target, "");
  io.enumeration(3, frame.address_kind, layout::kLastAddressKind, AddressKind{});
  io.enumeration(4, frame.why, layout::kLastReason, OpenReason{});
  io.varint(5, frame.inline_depth, 0);
  io.varint(6, frame.address, 0);
  io.varint(7, frame.function, 0);
  index(io, 8, frame.module, kNoModule);
  io.varint(9, frame.displacement, 0);
  io.string(10, frame.name, "");
  io.enumeration(11, frame.symbol, layout::kLastSymbol, SymbolKind{});
  io.string(12, frame.file, "");
  io.varint(13, frame.line, 0);
  io.varint(14, frame.folded, 1);
  io.varint(20, frame.line_approximate, false);
  index(io, 21, frame.il.assembly, kNoAssembly);
  io.varint(22, frame.il.method, 0);
  io.varint(23, frame.il.offset, 0);
  if (io.string(24, frame.source_url, "") && !is_web_url(frame.source_url)) frame.source_url.clear();
}

void row_fields(MessageIO& io, Crash& crash) {
  io.varint(1, crash.thread);
  io.varint(2, crash.code, 0);
  io.varint(3, crash.address, 0);
  io.enumeration(4, crash.access, kLastCrashAccess, CrashAccess{});
  io.varint(5, crash.touched, 0);
  io.varint(6, crash.detail, 0);
  io.messages(7, crash.objects, kMaxCrashObjects, fields);
  io.string(8, crash.text, "");
}

void lock_rows(MessageIO& io, MessageIO::Number number, std::vector<Lock>& locks, TableRoom& room) {
  io.repeated(number, locks, io.kNoLimit, [&](Lock& lock) {
    take(io, room.locks, "there are too many locks");
    io.nested(number, [&](MessageIO& inner) { row_fields(inner, lock, room); });
  });
}

void row_fields(MessageIO& io, Lock& lock, TableRoom& room) {
  // Earlier readers do not know semaphores and callbacks.
  bool semaphore = lock.kind == LockKind::semaphore, callback = lock.kind == LockKind::callback;
  LockKind kind = semaphore ? LockKind::threading_lock : callback ? LockKind::local_call : lock.kind;
  if (io.enumeration(1, kind, layout::kLastLock)) lock.kind = kind;
  io.varint(2, lock.address, 0);
  io.string(3, lock.type, "");
  io.varint(4, lock.owner, 0);
  io.varint(5, lock.held, false);
  io.varint(6, lock.recursion, 0);
  io.repeated(7, lock.waiters, io.kNoLimit, [&](LockWaiter& waiter) {
    take(io, room.waiters, "there are too many waiting threads");
    io.message(7, waiter, fields);
  });
  if (io.varint(8, semaphore, false) && semaphore) lock.kind = LockKind::semaphore;
  io.packed_varints(9, lock.sharers, itself, [&](std::uint64_t os_id) {
    take(io, room.sharers, "there are too many threads that share locks");
    return narrowed(os_id);
  });
  numbers(io, 10, lock.task_holders, room, itself, narrowed);
  if (io.varint(11, callback, false) && callback) lock.kind = LockKind::callback;
}

void row_fields(MessageIO& io, Recording::AsyncWork& work, TableRoom& room) {
  io.repeated(1, work.tasks, io.kNoLimit, [&](AsyncTask& task) {
    take(io, room.tasks, kTooManyTasks);
    io.nested(1, [&](MessageIO& inner) { fields(inner, task, room); });
  });
  io.repeated(2, work.contexts, io.kNoLimit, [&](AsyncContext& context) {
    take(io, room.tasks, kTooManyTasks);
    io.message(2, context, fields);
  });
  io.nested(3, [&](MessageIO& inner) { fields(inner, work.pool, room); });
  io.string(4, work.missing, "");
  numbers(io, 5, work.waits, room, index_plus_one, index_minus_one);
  numbers(io, 6, work.traits, room, bits_of, traits_of);
  numbers(io, 7, work.queue_positions, room, itself, itself);
}

void async_row(MessageIO& io, MessageIO::Number number, Recording::AsyncWork& work, TableRoom& room) {
  Recording::AsyncWork read;
  Recording::AsyncWork& row = io.is_writing() ? work : read;
  if (!io.nested(number, [&](MessageIO& inner) { row_fields(inner, row, room); })) return;
  check_indices(read);
  work = std::move(read);
}

constexpr const char* kTooManyExceptions = "there are too many exceptions";

void handled_rows(MessageIO& io, MessageIO::Number number, std::vector<Recording::Handled>& handled, TableRoom& room) {
  io.repeated(number, handled, io.kNoLimit, [&](Recording::Handled& each) {
    take(io, room.exceptions, kTooManyExceptions);
    io.nested(number, [&](MessageIO& inner) { row_fields(inner, each, room); });
  });
}

void row_fields(MessageIO& io, Recording::Handled& handled, TableRoom& room) {
  io.varint(1, handled.sample);
  io.repeated(2, handled.exception.objects, kMaxCrashObjects, [&](CrashObject& object) {
    take(io, room.exceptions, kTooManyExceptions);
    io.message(2, object, fields);
  });
}

void row_fields(MessageIO& io, Recording::EarlierDump& dump, TableRoom& room) {
  io.varint(1, dump.time_ns);
  io.packed_varints(2, dump.cpu, plus_one, [&](std::uint64_t cpu) {
    take(io, room.cpu_times, "there are too many processor times");
    return minus_one(cpu);
  });
  lock_rows(io, 3, dump.locks, room);
  io.string(4, dump.locks_missing, "");
  io.string(5, dump.unasked, "");
  io.message(6, dump.crash, row_fields);
  async_row(io, 7, dump.async, room);
  handled_rows(io, 8, dump.handled, room);
}

}  // namespace mixwalk
