#include "walker/merge/stack_builder.h"

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
  if (!found.proven && !guess_) {
    guess_ = Guess{stack_.frames.size(), stack_.runs.size(), managed_frames_};
  }
  const std::uint64_t ip = CodeAddress{found.address, found.kind}.lookup();
  const ModuleSpan* module = modules_.find(ip);
  ManagedCode::Function function;
  if (module == nullptr || module->has_managed_code) function = managed_.at(ip);
  if (function.id != 0 && !function.stub) {
    add_managed(found, function.id);
    return;
  }
  Frame frame = frame_of(found);
  // A ReadyToRun image contains code of the runtime besides its managed code. Code outside every image without a
  // FunctionID may be of any origin.
  const bool stub = function.id != 0 || (module != nullptr && module->has_managed_code);
  frame.kind = stub ? FrameKind::stub : FrameKind::native;
  frame.function = function.id;
  if (module != nullptr) {
    frame.module = static_cast<std::int32_t>(module - modules_.modules().data());
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
          modules_.find(CodeAddress{found.address, found.kind}.lookup())) {
    frame.module = static_cast<std::int32_t>(module - modules_.modules().data());
  }
  stack_.frames.push_back(std::move(frame));
  ++managed_frames_;
}

void StackBuilder::open(OpenReason why) {
  // If a stack was only too long, its guesses may be right.
  const bool too_long = why == OpenReason::stack_cut || why == OpenReason::frame_limit;
  if (!too_long && undo_guess()) why = OpenReason::no_call;
  if (!too_long) take_back_zero();
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
  confirm();
  if (run_ != Frame::kNone) close_run(RunEnd::root, OpenReason::none);
}

// A guess is made at the leaf or above a trap, so the frames after it are a run of native frames.
bool StackBuilder::undo_guess() {
  if (!guess_) return false;
  stack_.frames.resize(guess_->frames);
  managed_frames_ = guess_->managed_frames;
  stack_.runs.resize(guess_->runs);
  run_ = Frame::kNone;
  if (!stack_.frames.empty() && stack_.frames.back().run != Frame::kNone) {
    run_ = stack_.frames.back().run;
    Run& run = stack_.runs[static_cast<std::size_t>(run_)];
    run.frame_count = static_cast<std::uint32_t>(stack_.frames.size()) - run.first_frame;
    run.end = RunEnd::open;
  }
  guess_.reset();
  return true;
}

// Folklore: while a thread is in the first instructions of Wine 8's exception dispatcher, unwinding says that the
// dispatcher was called from address 0. A real call through a null pointer has a caller below, and the walk continues
// there; this frame has no caller. Real case: 29 of 6,198 samples of a program that dereferences null. Remedy: the
// frame is removed. A thread whose own instruction pointer is 0 is still shown there. Test:
// MergeTest.InterruptedAtZero….
void StackBuilder::take_back_zero() {
  if (run_ == Frame::kNone) return;
  const Frame& last = stack_.frames.back();
  const bool interrupted =
      last.address_kind == AddressKind::instruction_pointer && last.trust != Trust::context;
  if (last.address != 0 || !interrupted) return;
  stack_.frames.pop_back();
  --current_run().frame_count;
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
