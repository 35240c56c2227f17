#include "walker/store/table_rows.h"

#include <algorithm>

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

void take(MessageIO& io, std::size_t& room, const char* why) {
  if (io.is_writing()) return;
  require(room != 0, why);
  --room;
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
  io.enumeration(1, lock.kind, layout::kLastLock);
  io.varint(2, lock.address, 0);
  io.string(3, lock.type, "");
  io.varint(4, lock.owner, 0);
  io.varint(5, lock.held, false);
  io.varint(6, lock.recursion, 0);
  io.repeated(7, lock.waiters, io.kNoLimit, [&](LockWaiter& waiter) {
    take(io, room.waiters, "there are too many waiting threads");
    io.message(7, waiter, fields);
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
}

}  // namespace mixwalk
