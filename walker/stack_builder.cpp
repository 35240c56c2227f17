#include "walker/stack_builder.h"

namespace mixwalk {
namespace {

Frame frame_of(const RunFrame& found) {
  return {.trust = found.trust,
          .address_kind = found.kind,
          .address = found.address,
          .stack_pointer = found.stack_pointer};
}

}  // namespace

void StackBuilder::add(const RunFrame& found) {
  const std::uint64_t ip = CodeAddress{found.address, found.kind}.lookup();
  const ModuleSpan* module = view_.modules.find(ip);
  ManagedCode::Function function;
  if (module == nullptr || module->has_managed_code) function = view_.managed.at(ip);
  if (function.id != 0 && !function.stub) {
    add_managed(found, function.id);
    return;
  }
  Frame frame = frame_of(found);
  // Code outside every image, or beside the managed code of a ReadyToRun image, is the runtime's:
  // IL stubs with a FunctionID, thunks and precode without.
  const bool native = module != nullptr && !module->has_managed_code;
  frame.kind = native ? FrameKind::native : FrameKind::stub;
  frame.function = function.id;
  if (module != nullptr) {
    frame.module = static_cast<std::int32_t>(module - view_.modules.modules().data());
  }
  Run& run = current_run();
  ++run.frame_count;
  frame.run = run_;
  stack_.frames.push_back(std::move(frame));
}

void StackBuilder::add_managed(const RunFrame& found, std::uint64_t function) {
  if (run_ != Frame::kNone) close_run(RunEnd::closed, OpenReason::none);
  Frame frame = frame_of(found);
  frame.kind = FrameKind::managed;
  frame.function = function;
  if (const ModuleSpan* module =
          view_.modules.find(CodeAddress{found.address, found.kind}.lookup())) {
    frame.module = static_cast<std::int32_t>(module - view_.modules.modules().data());
  }
  stack_.frames.push_back(std::move(frame));
  ++managed_frames_;
}

void StackBuilder::open(OpenReason why) {
  Run& run = current_run();
  ++run.frame_count;
  stack_.frames.push_back({.kind = FrameKind::gap, .run = run_});
  close_run(RunEnd::open, why);
}

void StackBuilder::open_to_root(OpenReason why) {
  open(why);
  if (has_managed_frame()) stack_.runs.back().position = RunPosition::root;
}

void StackBuilder::root() {
  if (run_ != Frame::kNone) close_run(RunEnd::root, OpenReason::none);
}

Run& StackBuilder::current_run() {
  if (run_ == Frame::kNone) {
    run_ = static_cast<std::int32_t>(stack_.runs.size());
    stack_.runs.push_back({.position = has_managed_frame() ? RunPosition::middle
                                                           : RunPosition::leaf,
                           .first_frame = static_cast<std::uint32_t>(stack_.frames.size())});
  }
  return stack_.runs[static_cast<std::size_t>(run_)];
}

void StackBuilder::close_run(RunEnd end, OpenReason why) {
  Run& run = stack_.runs[static_cast<std::size_t>(run_)];
  run.end = end;
  run.why = why;
  if (end == RunEnd::root) {
    run.position = has_managed_frame() ? RunPosition::root : RunPosition::whole;
  } else if (end == RunEnd::open && !has_managed_frame()) {
    run.position = RunPosition::leaf;
  }
  run_ = Frame::kNone;
}

}  // namespace mixwalk
