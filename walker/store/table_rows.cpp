#include "walker/store/table_rows.h"

#include <algorithm>
#include <cstring>

#include "walker/store/nonsense.h"

namespace mixwalk {

using layout::AssemblyField, layout::FrameField, layout::ModuleField, layout::ProcessField,
    layout::RuntimeField, layout::ThreadField, layout::ThreadNameField;
using protozero::pbf_message;

namespace {

// An index that no module has.
constexpr std::uint64_t kNoModule = layout::kMaxModules + 1;
constexpr std::uint64_t kNoAssembly = layout::kMaxAssemblies + 1;

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
      case AssemblyField::mvid: {
        const std::string mvid = in.get_bytes();
        require(mvid.size() == assembly.mvid.size(), "an assembly's MVID is no GUID");
        std::memcpy(assembly.mvid.data(), mvid.data(), mvid.size());
        break;
      }
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
      default: in.skip();
    }
  }
  return thread;
}

RecordedFrame get_frame(pbf_message<FrameField> in) {
  RecordedFrame frame;
  frame.kind = FrameKind{};  // what is missing is 0, and that is not what a new frame has
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
        // An index and one; whether there is such a module is asked when the chunk is read whole.
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
