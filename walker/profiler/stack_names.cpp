#include "walker/profiler/stack_names.h"

#include <algorithm>

#include "symbols/clr_stub.h"
#include "walker/merge/stub_callees.h"

namespace mixwalk {
namespace {

void add_once(auto& all, auto one) {
  if (std::ranges::find(all, one) == all.end()) all.push_back(one);
}

}  // namespace

StackNames::StackNames(ClrInterfaces& clr, UnloadGate& gate, ListedImages& images)
    : clr_(clr),
      gate_(gate),
      images_(images),
      names_(clr.info.get(), clr.info8.get()),
      il_(clr.info.get(), clr.info9.get()),
      targets_(clr.info.get()),
      code_(*clr.info, clr.info8.get(), names_, &gate),
      mark_(gate.mark()) {}

void StackNames::forget() {
  names_ = ClrMetadataSource(clr_.info.get(), clr_.info8.get());
  il_.clear();
  targets_.forget();
}

bool StackNames::read_unloads() {
  if (!clr_.reports_method_unloads) names_.forget_dynamic();
  if (gate_.mark() == mark_) return false;
  if (!gate_.read(mark_, unloads_)) {
    targets_.forget();
    names_ = ClrMetadataSource(clr_.info.get(), clr_.info8.get());
    il_.forget_code();
    return true;
  }
  for (const UnloadGate::Unload& unload : unloads_) {
    if (unload.module == 0) {
      names_.forget(unload.function);
    } else {
      // A stub may have been made for any method of the module.
      names_.forget_module(unload.module);
      targets_.forget_module(unload.module);
      names_.forget_dynamic();
      il_.forget_code();
    }
  }
  return true;
}

void StackNames::begin(const UnloadGate::Mark& mark, std::uint64_t image_mark) {
  dependencies_.mark = mark;
  dependencies_.image_mark = image_mark;
  code_.begin(mark);
  begin_stack();
}

void StackNames::begin_stack() noexcept {
  dependencies_.managed.clear();
  dependencies_.images.clear();
}

bool StackNames::still_hold(const StackDependencies& dependencies, const UnloadGate::Mark& now) {
  return images_.still_loaded(dependencies.images, dependencies.image_mark) &&
         (now == dependencies.mark || !gate_.hits(dependencies.managed, dependencies.mark));
}

bool StackNames::finish(Stack& stack) {
  for (std::size_t i = 0; i < stack.frames.size(); ++i) {
    StackFrame& frame = stack.frames[i];
    if (frame.module != Frame::kNone) {
      const auto image = static_cast<std::size_t>(frame.module);
      add_once(dependencies_.images, image);
      frame.module = images_.number(image);
    } else if (frame.kind != FrameKind::gap) {
      dependencies_.managed.code.push_back(frame.address);
      dependencies_.managed.unknown_code |= frame.function == 0;
    }
    // In an event's sample, the dynamic methods already have names: the event's thread looked them up.
    if (frame.function != 0 && frame.name.empty() && !name(frame)) return false;
    if (frame.kind == FrameKind::stub || frame.callee != 0) find_target(stack, i);
  }
  show_inlined_stubs(stack);
  return !code_.lost();
}

// Returns false if the frame's code was unloaded meanwhile.
bool StackNames::name(Frame& frame) {
  const ManagedName* name = code_.name(frame.function);
  if (name == nullptr) return false;
  frame.name = name->text;
  if (name->dynamic) add_once(dependencies_.managed.functions, frame.function);
  for (const clr::ModuleID module : name->modules) add_once(dependencies_.managed.modules, module);
  return frame.kind != FrameKind::managed || name->dynamic || place_in_il(frame);
}

// To be called when the frames above the stub have their names.
void StackNames::find_target(Stack& stack, std::size_t place) {
  StackFrame& frame = stack.frames[place];
  const ClrStub what = clr_stub(frame.name);
  const bool leads_in = what == ClrStub::reverse_pinvoke || what == ClrStub::com_in;
  const Frame* called = place != 0 ? &stack.frames[place - 1] : nullptr;
  if (leads_in && called != nullptr && called->kind == FrameKind::managed) frame.target = called->name;
  if (frame.callee == 0) return;
  std::vector<clr::ModuleID> modules;
  frame.target = code_.native_target(targets_, frame, modules);
  for (const clr::ModuleID module : modules) add_once(dependencies_.managed.modules, module);
}

// Returns false if the frame's code was unloaded meanwhile.
bool StackNames::place_in_il(Frame& frame) {
  const std::uint64_t ip = CodeAddress{frame.address, frame.address_kind}.lookup();
  const ClrIlSource::Place* place = code_.il_place(il_, frame.function, ip);
  if (place == nullptr) return false;
  frame.il = {.assembly = place->assembly, .method = place->method, .offset = place->offset};
  return true;
}

}  // namespace mixwalk
