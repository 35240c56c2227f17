#include "walker/merge/stack_builder.h"

namespace mixwalk {
namespace {

StackFrame frame_of(const RunFrame& found) {
  return {{.trust = found.trust, .address_kind = found.kind, .address = found.address}, found.stack_pointer};
}

}  // namespace

void StackBuilder::add(const RunFrame& found) {
  if (!found.proven && !guess_) guess_ = stack_.frames.size();
  const std::uint64_t ip = CodeAddress{found.address, found.kind}.lookup();
  const ModuleSpan* module = modules_.find(ip);
  ManagedCode::Function function;
  if (module == nullptr || module->has_managed_code) function = managed_.at(ip);
  if (function.id != 0 && !function.stub) {
    add_managed(found, function.id);
    return;
  }
  StackFrame frame = frame_of(found);
  // A ReadyToRun image contains code of the runtime besides its managed code. Code outside every image without a
  // FunctionID may be of any origin.
  const bool stub = function.id != 0 || (module != nullptr && module->has_managed_code);
  frame.kind = stub ? FrameKind::stub : FrameKind::native;
  frame.function = function.id;
  if (module != nullptr) {
    frame.module = static_cast<std::int32_t>(module - modules_.modules().data());
  }
  stack_.frames.push_back(std::move(frame));
}

void StackBuilder::add_managed(const RunFrame& found, std::uint64_t function) {
  StackFrame frame = frame_of(found);
  frame.kind = FrameKind::managed;
  frame.function = function;
  if (const ModuleSpan* module =
          modules_.find(CodeAddress{found.address, found.kind}.lookup())) {
    frame.module = static_cast<std::int32_t>(module - modules_.modules().data());
  }
  stack_.frames.push_back(std::move(frame));
}

bool StackBuilder::open(OpenReason why) {
  // If a stack was only too long, its guesses may be right.
  const bool too_long = why == OpenReason::stack_cut || why == OpenReason::frame_limit;
  const bool undone = !too_long && undo_guess();
  if (undone) why = OpenReason::no_call;
  if (!too_long) take_back_zero();
  stack_.frames.emplace_back(Frame{.kind = FrameKind::gap, .why = why});
  return undone;
}

bool StackBuilder::undo_guess() {
  if (!guess_) return false;
  stack_.frames.resize(*guess_);
  guess_.reset();
  return true;
}

// Folklore: while a thread is in the first instructions of Wine 8's exception dispatcher, unwinding says that the
// dispatcher was called from address 0. A real call through a null pointer has a caller below, and the walk continues
// there; this frame has no caller. Real case: 29 of 6,198 samples of a program that dereferences null. Remedy: the
// frame is removed. A thread whose own instruction pointer is 0 is still shown there. Test:
// MergeTest.InterruptedAtZero….
void StackBuilder::take_back_zero() {
  if (stack_.frames.empty()) return;
  const Frame& last = stack_.frames.back();
  const bool interrupted =
      last.address_kind == AddressKind::instruction_pointer && last.trust != Trust::context;
  if (last.kind != FrameKind::managed && last.address == 0 && interrupted) stack_.frames.pop_back();
}

}  // namespace mixwalk
