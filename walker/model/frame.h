#pragma once

#include <cstdint>
#include <string>

#include "symbols/calls/call_check.h"
#include "symbols/symbol_kind.h"
#include "unmanaged/step/code_address.h"
#include "unmanaged/step/native_run.h"
#include "unmanaged/step/trust.h"

namespace mixwalk {

enum class FrameKind : std::uint8_t {
  managed,
  native,
  stub,  // code that the runtime made, and the CLR knows as such: IL stubs
  gap,   // no frame: frames are missing here, and the run says why
};

// The place of a managed frame in its method's IL, from which its line is found.
struct IlPlace {
  std::int32_t assembly = -1;  // index into Snapshot::assemblies; -1 if nothing is known
  std::uint32_t method = 0;    // MethodDef token, 0x06...
  std::uint32_t offset = 0;    // bytes from the beginning of the method's IL; of the call, for a caller

  bool operator==(const IlPlace&) const = default;
};

// One frame of a stack: a value, in the target's addresses. Leaf frames come first everywhere.
struct Frame {
  static constexpr std::int32_t kNone = -1;

  FrameKind kind = FrameKind::native;
  Trust trust = Trust::context;
  AddressKind address_kind = AddressKind::instruction_pointer;
  std::uint64_t address = 0;        // 0 for a gap
  std::uint64_t stack_pointer = 0;  // Rsp of the frame
  std::uint64_t function = 0;       // the CLR's FunctionID; 0 if none
  std::int32_t module = kNone;      // index into Snapshot::modules
  std::int32_t run = kNone;         // index into Stack::runs; kNone for a managed frame between runs

  // Symbolisation fills this in. Native: the bare symbol ("NtWaitForSingleObject"); empty where no symbol is known;
  // never a wrong one. Managed: "Namespace.Type.Method(ParameterTypes)". Stub: the runtime's name for it
  // ("IL_STUB_PInvoke"), or empty.
  std::string name;
  SymbolKind symbol = SymbolKind::none;  // where a native frame's name comes from
  std::uint64_t displacement = 0;  // address - symbol's start, bytes; native frames with a name.
                                   // Of an import 0 where the start is not known
  std::string file;                // of the source, as the symbols have it; empty if unknown
  std::uint32_t line = 0;          // in that file; 0 if unknown
  // The line is that of nearby code, where the compiler may have moved code (Assembly::optimised).
  bool line_approximate = false;
  IlPlace il;                      // managed frames with metadata
  // What a stub leads to. Out to native code, as the program declares it: "orders!wait_for_reply" for a P/Invoke,
  // "Namespace.Interface.Method(ParameterTypes)" for a COM call. In to managed code: the method that the stub called,
  // named like a managed frame. Is empty if not known.
  std::string target;
  // A word of the stack from which `target` is found later (stub_callees.h); 0 if none.
  std::uint64_t callee = 0;
  std::uint32_t folded = 1;        // functions that the linker made one; the name is that of one of them
  // 0 means a real frame. n: a call that the compiler inlined, at depth n in the next real frame; it has the address,
  // Rsp and run of that frame.
  std::uint8_t inline_depth = 0;
  // Native frames in images: whether the call before the return address leads to the frame above. This belongs to a
  // pair of frames, so recordings do not keep it.
  CallCheck call = CallCheck::unchecked;

  bool operator==(const Frame&) const = default;
};

// Where a native run lies in its stack.
enum class RunPosition : std::uint8_t {
  leaf,    // above the first managed frame
  middle,  // between two managed frames: one hole of DoStackSnapshot
  root,    // below the last managed frame
  whole,   // the stack has no managed frame
};

// One native run: how it ended, and its frames in Stack::frames.
struct Run {
  RunPosition position = RunPosition::whole;
  RunEnd end = RunEnd::open;  // closed_rsp is reported as closed: the merge has checked it
  OpenReason why = OpenReason::none;
  std::uint32_t first_frame = 0;  // the gap of an open run is counted in
  std::uint32_t frame_count = 0;

  bool operator==(const Run&) const = default;
};

}  // namespace mixwalk
