#include "walker/store/table_rows.h"

#include <algorithm>
#include <cstring>

#include "walker/store/nonsense.h"

namespace mixwalk {

using layout::AssemblyField, layout::CodeViewField, layout::EarlierDumpField, layout::FrameField, layout::LockField,
    layout::ModuleField, layout::ProcessField, layout::RuntimeField, layout::ThreadField, layout::ThreadNameField,
    layout::WaiterField;
using protozero::pbf_message;

namespace {

// An index that no module has.
constexpr std::uint64_t kNoModule = layout::kMaxModules + 1;
constexpr std::uint64_t kNoAssembly = layout::kMaxAssemblies + 1;

std::array<std::byte, 16> guid_of(const std::string& bytes, const char* why) {
  std::array<std::byte, 16> guid;
  require(bytes.size() == guid.size(), why);
  std::memcpy(guid.data(), bytes.data(), guid.size());
  return guid;
}

CodeViewId get_code_view(pbf_message<CodeViewField> in) {
  CodeViewId id;
  while (in.next()) {
    switch (in.tag()) {
      case CodeViewField::guid: id.guid = guid_of(in.get_bytes(), "a PDB's id is no GUID"); break;
      case CodeViewField::age: id.age = checked<std::uint32_t>(in.get_uint64()); break;
      case CodeViewField::path: id.path = in.get_bytes(); break;
      case CodeViewField::timestamp: id.timestamp = checked<std::uint32_t>(in.get_uint64()); break;
      case CodeViewField::portable: id.portable = in.get_uint64() != 0; break;
      default: in.skip();
    }
  }
  return id;
}

LockWaiter get_waiter(pbf_message<WaiterField> in) {
  LockWaiter waiter;
  while (in.next()) {
    switch (in.tag()) {
      case WaiterField::os_id: waiter.os_id = checked<std::uint32_t>(in.get_uint64()); break;
      case WaiterField::pulse: waiter.pulse = in.get_uint64() != 0; break;
      default: in.skip();
    }
  }
  return waiter;
}

}  // namespace

Process get_process(pbf_message<ProcessField> in) {
  Process process;
  while (in.next()) {
    switch (in.tag()) {
      case ProcessField::id: process.id = checked<std::uint32_t>(in.get_uint64()); break;
      case ProcessField::path: process.path = in.get_bytes(); break;
      case ProcessField::command_line: process.command_line = in.get_bytes(); break;
      default: in.skip();
    }
  }
  return process;
}

Runtime get_runtime(pbf_message<RuntimeField> in) {
  Runtime runtime;
  while (in.next()) {
    switch (in.tag()) {
      case RuntimeField::name: runtime.name = in.get_bytes(); break;
      case RuntimeField::major: runtime.major = checked<std::uint16_t>(in.get_uint64()); break;
      case RuntimeField::minor: runtime.minor = checked<std::uint16_t>(in.get_uint64()); break;
      case RuntimeField::build: runtime.build = checked<std::uint16_t>(in.get_uint64()); break;
      case RuntimeField::revision:
        runtime.revision = checked<std::uint16_t>(in.get_uint64());
        break;
      default: in.skip();
    }
  }
  return runtime;
}

Module get_module(pbf_message<ModuleField> in) {
  Module module;
  while (in.next()) {
    switch (in.tag()) {
      case ModuleField::base: module.base = in.get_uint64(); break;
      case ModuleField::size: module.size = checked<std::uint32_t>(in.get_uint64()); break;
      case ModuleField::timestamp:
        module.timestamp = checked<std::uint32_t>(in.get_uint64());
        break;
      case ModuleField::path: module.path = in.get_bytes(); break;
      case ModuleField::code_view: module.code_view = get_code_view(in.get_message()); break;
      default: in.skip();
    }
  }
  return module;
}

Assembly get_assembly(pbf_message<AssemblyField> in) {
  Assembly assembly{.path = {}, .mvid = {}, .optimised = false};
  while (in.next()) {
    switch (in.tag()) {
      case AssemblyField::path: assembly.path = in.get_bytes(); break;
      case AssemblyField::mvid: assembly.mvid = guid_of(in.get_bytes(), "an assembly's MVID is no GUID"); break;
      case AssemblyField::pdb: assembly.pdb = get_code_view(in.get_message()); break;
      case AssemblyField::optimised: assembly.optimised = in.get_uint64() != 0; break;
      default: in.skip();
    }
  }
  return assembly;
}

Recording::ThreadInfo get_thread(pbf_message<ThreadField> in) {
  Recording::ThreadInfo thread;
  while (in.next()) {
    switch (in.tag()) {
      case ThreadField::os_id: thread.os_id = checked<std::uint32_t>(in.get_uint64()); break;
      case ThreadField::clr_id: thread.clr_id = in.get_uint64(); break;
      case ThreadField::name: thread.name = in.get_bytes(); break;
      case ThreadField::created: thread.created = in.get_uint64(); break;
      // The value plus one, because 0 is a time too.
      case ThreadField::cpu:
        if (const std::uint64_t cpu = in.get_uint64(); cpu != 0) thread.cpu = cpu - 1;
        break;
      default: in.skip();
    }
  }
  return thread;
}

Lock get_lock(pbf_message<LockField> in, TableRoom& room) {
  require(room.locks != 0, "there are too many locks");
  --room.locks;
  Lock lock;
  while (in.next()) {
    switch (in.tag()) {
      case LockField::kind: lock.kind = checked(in.get_uint64(), layout::kLastLock); break;
      case LockField::address: lock.address = in.get_uint64(); break;
      case LockField::type: lock.type = in.get_bytes(); break;
      case LockField::owner: lock.owner = checked<std::uint32_t>(in.get_uint64()); break;
      case LockField::held: lock.held = in.get_uint64() != 0; break;
      case LockField::recursion: lock.recursion = checked<std::uint32_t>(in.get_uint64()); break;
      case LockField::waiter:
        require(room.waiters != 0, "there are too many waiting threads");
        --room.waiters;
        lock.waiters.push_back(get_waiter(in.get_message()));
        break;
      default: in.skip();
    }
  }
  return lock;
}

Recording::EarlierDump get_earlier_dump(pbf_message<EarlierDumpField> in, TableRoom& room) {
  Recording::EarlierDump dump;
  while (in.next()) {
    switch (in.tag()) {
      case EarlierDumpField::time_ns: dump.time_ns = in.get_uint64(); break;
      case EarlierDumpField::cpu:
        require(in.has_wire_type(protozero::pbf_wire_type::length_delimited), "a column is not packed");
        for (const std::uint64_t cpu : in.get_packed_uint64()) {
          require(room.cpu_times != 0, "there are too many processor times");
          --room.cpu_times;
          dump.cpu.push_back(cpu == 0 ? std::nullopt : std::optional(cpu - 1));  // the value plus one, as for a thread
        }
        break;
      case EarlierDumpField::lock: dump.locks.push_back(get_lock(in.get_message(), room)); break;
      case EarlierDumpField::locks_missing: dump.locks_missing = in.get_bytes(); break;
      case EarlierDumpField::unasked: dump.unasked = in.get_bytes(); break;
      default: in.skip();
    }
  }
  return dump;
}

Frame get_frame(pbf_message<FrameField> in) {
  Frame frame;
  frame.kind = FrameKind{};  // a missing field means 0, which is not the default
  while (in.next()) {
    switch (in.tag()) {
      case FrameField::kind: frame.kind = checked(in.get_uint64(), layout::kLastKind); break;
      case FrameField::trust: frame.trust = checked(in.get_uint64(), layout::kLastTrust); break;
      case FrameField::by_frame_pointer:
        if (in.get_uint64() != 0) frame.trust = Trust::frame_pointer;
        break;
      case FrameField::address_kind:
        frame.address_kind = checked(in.get_uint64(), layout::kLastAddressKind);
        break;
      case FrameField::why: frame.why = checked(in.get_uint64(), layout::kLastReason); break;
      case FrameField::inline_depth:
        frame.inline_depth = checked<std::uint8_t>(in.get_uint64());
        break;
      case FrameField::address: frame.address = in.get_uint64(); break;
      case FrameField::function: frame.function = in.get_uint64(); break;
      case FrameField::module:
        // An index plus one. Whether there is such a module is checked when the whole chunk has been read.
        frame.module = static_cast<std::int32_t>(std::min(in.get_uint64(), kNoModule)) - 1;
        break;
      case FrameField::displacement: frame.displacement = in.get_uint64(); break;
      case FrameField::name: frame.name = in.get_bytes(); break;
      case FrameField::target: frame.target = in.get_bytes(); break;
      case FrameField::symbol: frame.symbol = checked(in.get_uint64(), layout::kLastSymbol); break;
      case FrameField::file: frame.file = in.get_bytes(); break;
      case FrameField::folded: frame.folded = checked<std::uint32_t>(in.get_uint64()); break;
      case FrameField::line: frame.line = checked<std::uint32_t>(in.get_uint64()); break;
      case FrameField::line_approximate: frame.line_approximate = in.get_uint64() != 0; break;
      case FrameField::assembly:
        frame.il.assembly = static_cast<std::int32_t>(std::min(in.get_uint64(), kNoAssembly)) - 1;
        break;
      case FrameField::method: frame.il.method = checked<std::uint32_t>(in.get_uint64()); break;
      case FrameField::il_offset: frame.il.offset = checked<std::uint32_t>(in.get_uint64()); break;
      default: in.skip();
    }
  }
  return frame;
}

ThreadName get_thread_name(pbf_message<ThreadNameField> in) {
  ThreadName name;
  while (in.next()) {
    switch (in.tag()) {
      case ThreadNameField::thread: name.thread = in.get_uint64(); break;
      case ThreadNameField::name: name.name = in.get_bytes(); break;
      default: in.skip();
    }
  }
  return name;
}

}  // namespace mixwalk
