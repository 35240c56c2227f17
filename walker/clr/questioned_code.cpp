#include "walker/clr/questioned_code.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "symbols/clr_stub.h"
#include "walker/merge/stub_callees.h"

namespace mixwalk {

ManagedCode::Function QuestionedCode::at(std::uint64_t ip) noexcept {
  const auto code = clr_.code_at(ip);
  if (!code) return {};
  return {code->method, clr_.method(code->method).stub};
}

namespace {

// The word in StackFrame::callee may be anything. It counts only if it is a method to which such a stub can lead.
std::string called_by(ClrStub stub, std::uint64_t callee, ClrQuestions& clr) {
  if (stub != ClrStub::pinvoke && stub != ClrStub::com_out) return {};
  const ClrMethod method = clr.method(callee);
  if (stub == ClrStub::pinvoke) return method.import;
  return method.com ? method.name : std::string();
}

// To be called when the frames above the stub, or above the method with an inlined stub, have their names.
void add_target(Stack& stack, std::size_t place, ClrQuestions& clr) {
  StackFrame& frame = stack.frames[place];
  const ClrStub stub = frame.kind == FrameKind::managed ? ClrStub::pinvoke : clr_stub(frame.name);
  if ((stub == ClrStub::reverse_pinvoke || stub == ClrStub::com_in) && place != 0) {
    const Frame& called = stack.frames[place - 1];
    if (called.kind == FrameKind::managed) frame.target = called.name;
  }
  if (frame.callee != 0) frame.target = called_by(stub, frame.callee, clr);
}

// The kind of code that the runtime has made and that belongs to no method: "CLRStub[VSD_ResolveStub]@7ffa1234" →
// "VSD_ResolveStub". The names of its helpers begin with "JIT_". Empty for all other names, as those of methods.
// (RawGetMethodName in the runtime's daccess.cpp.)
std::string kind_of_code(const std::string& name) {
  constexpr std::string_view kStub = "CLRStub[";
  if (name.starts_with("JIT_")) return name;
  const std::size_t end = name.find(']');
  if (!name.starts_with(kStub) || end == std::string::npos) return {};
  return name.substr(kStub.size(), end - kStub.size());
}

// Makes a stub of a native frame outside the images, if the library knows the code.
void name_unknown_code(Frame& frame, ClrQuestions& clr) {
  if (frame.kind != FrameKind::native || frame.module != Frame::kNone || frame.function != 0) return;
  std::string kind = kind_of_code(clr.code_name(CodeAddress{frame.address, frame.address_kind}.lookup()));
  if (kind.empty()) return;
  frame.kind = FrameKind::stub;
  frame.name = std::move(kind);
}

}  // namespace

void name_functions(Snapshot& snapshot, ClrQuestions& clr, std::chrono::milliseconds longest) {
  const auto end = std::chrono::steady_clock::now() + longest;
  std::vector<std::uint64_t> methods;
  for (const Thread& thread : snapshot.threads) {
    for (const StackFrame& frame : thread.stack.frames) {
      if (!frame.name.empty()) continue;  // named before the target was asked anew
      if (frame.function != 0) methods.push_back(frame.function);
      if (frame.callee != 0) methods.push_back(frame.callee);
    }
  }
  clr.expect_methods(methods);
  for (Thread& thread : snapshot.threads) {
    std::vector<StackFrame>& frames = thread.stack.frames;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      if (!frames[i].name.empty()) continue;
      if (std::chrono::steady_clock::now() >= end) break;
      name_unknown_code(frames[i], clr);
      if (frames[i].function != 0) frames[i].name = clr.method(frames[i].function).name;
      if (frames[i].kind == FrameKind::stub || frames[i].callee != 0) add_target(thread.stack, i, clr);
    }
    show_inlined_stubs(thread.stack);
  }
}

void add_il_places(Snapshot& snapshot, ClrQuestions& clr) {
  const auto lookup = [](const Frame& frame) { return CodeAddress{frame.address, frame.address_kind}.lookup(); };
  const auto is_managed = [](const Frame& frame) { return frame.kind == FrameKind::managed && frame.function != 0; };
  std::vector<std::uint64_t> ips;
  for (const Thread& thread : snapshot.threads) {
    for (const Frame& frame : thread.stack.frames) {
      if (is_managed(frame)) ips.push_back(lookup(frame));
    }
  }
  std::ranges::sort(ips);
  ips.erase(std::unique(ips.begin(), ips.end()), ips.end());
  ClrIlPlaces found = clr.il_places(ips);
  std::vector<std::int32_t> assemblies;  // for each of the answer, its index in the snapshot
  for (const Assembly& assembly : found.assemblies) assemblies.push_back(place_of(assembly, snapshot.assemblies));
  for (ClrIlPlaces::Place& place : found.places) {
    if (place.il.assembly >= 0) place.il.assembly = assemblies[static_cast<std::size_t>(place.il.assembly)];
  }
  for (Thread& thread : snapshot.threads) {
    for (Frame& frame : thread.stack.frames) {
      if (!is_managed(frame)) continue;
      const auto at = static_cast<std::size_t>(std::ranges::lower_bound(ips, lookup(frame)) - ips.begin());
      if (at < found.places.size() && found.places[at].method == frame.function) frame.il = found.places[at].il;
    }
  }
}

}  // namespace mixwalk
