#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "symbols/calls/call_check.h"
#include "symbols/symbol_kind.h"
#include "unmanaged/step/code_address.h"
#include "unmanaged/step/native_run.h"
#include "unmanaged/step/trust.h"

namespace mixwalk {

enum class FrameKind : std::uint8_t {
  managed,
  native,
  stub,  // code that the runtime made and the CLR knows as such: IL stubs
  gap,   // not a frame: frames are missing here, and the run says why
};

// The place of a managed frame in its method's IL, from which its line is found.
struct IlPlace {
  std::int32_t assembly = -1;  // index into Snapshot::assemblies or Recording::assemblies; -1: the place is not known
  std::uint32_t method = 0;    // MethodDef token, 0x06...
  std::uint32_t offset = 0;    // bytes from the beginning of the method's IL; for a caller, those of its call

  bool operator==(const IlPlace&) const = default;
};

// One frame without its place on a particular stack, with the target's addresses. It is a value; many stacks share it.
struct Frame {
  static constexpr std::int32_t kNone = -1;

  FrameKind kind = FrameKind::native;
  Trust trust = Trust::context;
  AddressKind address_kind = AddressKind::instruction_pointer;
  OpenReason why = OpenReason::none;  // of a gap: why frames are missing
  // 0 for a real frame; n for a call that the compiler inlined, at depth n in the next real frame. An inlined call has
  // the address and Rsp of that frame.
  std::uint8_t inline_depth = 0;
  std::uint64_t address = 0;    // 0 for a gap
  std::uint64_t function = 0;   // the CLR's FunctionID; 0 if none
  std::int32_t module = kNone;  // index into Snapshot::modules or Recording::modules

  // Symbolisation fills this in. For native code it is the bare symbol ("NtWaitForSingleObject"), never a wrong one;
  // empty if no symbol is known. For managed code it is "Namespace.Type.Method(ParameterTypes)". For a stub it is the
  // runtime's name ("IL_STUB_PInvoke"), or empty.
  std::string name;
  SymbolKind symbol = SymbolKind::none;  // where a native frame's name comes from
  std::uint64_t displacement = 0;  // address - symbol's start, bytes; native frames with a name. 0 for an import whose
                                   // start is not known
  std::string file;                // of the source, as the symbols have it; empty if unknown
  std::uint32_t line = 0;          // in that file; 0 if unknown
  std::string source_url;          // from which the file can be read on the web; empty if unknown. http or https
  // Whether the line is that of nearby code, because the compiler may have moved code (Assembly::optimised).
  bool line_approximate = false;
  IlPlace il;                      // only managed frames with metadata have it
  std::uint32_t folded = 1;        // how many functions the linker merged; the name is that of one of them
  // The code that a stub leads to. For a stub that calls native code, it is named as the program declares it:
  // "orders!wait_for_reply" for a P/Invoke, "Namespace.Interface.Method(ParameterTypes)" for a COM call. For a stub
  // that calls managed code, it is the called method, named like a managed frame. Empty if not known.
  std::string target;

  // Whether a symbol names the function. A name that is only its place in the image ("sub_1200") does not.
  bool has_symbol() const noexcept { return !name.empty() && symbol != SymbolKind::function_table; }

  bool operator==(const Frame&) const = default;
};

// A frame with its place on one stack. Leaf frames come first everywhere. Recordings do not keep the place.
struct StackFrame : Frame {
  StackFrame() = default;
  // Only of a temporary, so that no function that takes a StackFrame takes a Frame, which has no place, by mistake.
  StackFrame(Frame&& frame, std::uint64_t rsp = 0) : Frame(std::move(frame)), stack_pointer(rsp) {}

  std::uint64_t stack_pointer = 0;  // Rsp of the frame
  // A word of the stack from which `target` is found later (stub_callees.h); 0 if none.
  std::uint64_t callee = 0;
  // For native frames in images: whether the call before the return address leads to the frame above.
  CallCheck call = CallCheck::unchecked;

  bool operator==(const StackFrame&) const = default;
};

// The place of a native run in its stack.
enum class RunPosition : std::uint8_t {
  leaf,    // above the first managed frame
  middle,  // between two managed frames: one hole of DoStackSnapshot
  root,    // below the last managed frame
  whole,   // the stack has no managed frame
};

// One native run: how it ended, and which of Stack::frames it consists of. It follows from the frames (Stack::runs()).
struct Run {
  RunPosition position = RunPosition::whole;
  RunEnd end = RunEnd::open;  // closed_rsp is stored as closed, because the merge has checked it
  OpenReason why = OpenReason::none;
  std::uint32_t first_frame = 0;  // the gap of an open run is counted too
  std::uint32_t frame_count = 0;

  bool operator==(const Run&) const = default;
};

}  // namespace mixwalk
