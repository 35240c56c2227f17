#include "walker/session/thread_message.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "symbols/clr_stub.h"

namespace mixwalk {
namespace {

constexpr MessageIO::Number kTarget = 17;

// The received targets of a thread's stubs. A message could name a long target in each of a million frames, so copies
// beyond kMaxBytes are left out.
class ReceivedTargets {
 public:
  void fields(MessageIO& io) {
    io.repeated(kTarget, targets_, io.kNoLimit, [&](std::string& target) { io.string(kTarget, target); });
  }
  const std::string& at(std::uint32_t number) {
    require(number <= targets_.size(), "a frame's target does not exist");
    if (number == 0 || targets_[number - 1].size() > bytes_left_) return none_;
    bytes_left_ -= targets_[number - 1].size();
    return targets_[number - 1];
  }

 private:
  static constexpr std::size_t kMaxBytes = 64 << 20;

  const std::string none_;
  std::vector<std::string> targets_;
  std::size_t bytes_left_ = kMaxBytes;
};

// The targets of a thread's stubs, each once, because a recursion through a stub has tens of thousands of frames.
// Targets beyond kMaxTargetBytes are left out, since a receiver would refuse a message that is too long.
class TargetNumbers {
 public:
  static constexpr std::size_t kMaxTargetBytes = 1 << 20;

  // Returns 0 if the frame has no target, or if the target is left out. `is_new`: its text has to be sent.
  std::uint32_t number(const std::string& target, bool& is_new) {
    is_new = false;
    if (target.empty()) return 0;
    if (const auto known = numbers_.find(target); known != numbers_.end()) return known->second;
    if (bytes_ + target.size() > kMaxTargetBytes) return 0;
    bytes_ += target.size();
    is_new = true;
    return numbers_.emplace(target, static_cast<std::uint32_t>(numbers_.size() + 1)).first->second;
  }

 private:
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
  std::size_t bytes_ = 0;
};

// Whether this is code that the runtime made and that is no method (name_runtime_code).
bool is_runtime_code(const Frame& frame) {
  return frame.kind == FrameKind::stub && frame.function == 0 && frame.inline_depth == 0;
}

// Names are sent once for each FunctionID. Two kinds of stubs have no FunctionID: code that is no method, whose name
// goes with the frame, and a stub that the JIT has inlined, which is that of a P/Invoke. Throws if another frame came
// with a name.
//
// Real case: the name of code that is no method was lost on the pipe, so 2 of some 300 dumps of orders-demo.exe from
// inside, taken right after its start, showed "[stub at 0x680f10e7]" and not "[call counter]". Tests: protocol_test,
// torture_test (nameless_code).
void name_received(StackFrame& frame) {
  constexpr std::size_t kMaxKindBytes = 64;
  require(frame.name.empty() || (is_runtime_code(frame) && frame.name.size() <= kMaxKindBytes),
          "the name of a frame is none");
  if (frame.kind == FrameKind::stub && frame.inline_depth != 0) frame.name = kPInvokeStub;
}

// `run`: the index of the frame's run, or Frame::kNone. `target`: the number of frame.target among the thread's
// targets, from 1 on; 0 if the frame has none.
void fields(MessageIO& io, StackFrame& frame, std::int32_t& run, std::uint32_t& target) {
  io.enumeration(1, frame.kind, FrameKind::gap);
  io.enumeration(2, frame.trust, kLastTrust);
  io.enumeration(3, frame.address_kind, AddressKind::return_address);
  io.fixed64(4, frame.address);
  io.fixed64(5, frame.stack_pointer);
  io.fixed64(6, frame.function, 0);
  io.int32(7, frame.module, Frame::kNone);
  io.int32(8, run, Frame::kNone);
  io.varint(9, target, 0);
  io.varint(10, frame.inline_depth, 0);
  if (!io.is_writing() || is_runtime_code(frame)) io.string(23, frame.name, "");
  if (io.is_writing() && frame.il.assembly == Frame::kNone) return;
  io.int32(20, frame.il.assembly);
  io.varint(21, frame.il.method);
  io.varint(22, frame.il.offset);
}

void fields(MessageIO& io, Run& run) {
  io.enumeration(1, run.position, RunPosition::whole);
  io.enumeration(2, run.end, RunEnd::open);
  io.enumeration(3, run.why, kLastOpenReason);
  io.varint(4, run.first_frame);
  io.varint(5, run.frame_count);
}

// Gives each gap the reason of its run. Throws if an index inside the stack is invalid, so that later code need not
// check. `run_of`: the run of each frame. The rest of the runs follows from the frames.
void set_reasons(Stack& stack, const std::vector<Run>& runs, const std::vector<std::int32_t>& run_of) {
  const std::uint64_t frames = stack.frames.size();
  for (const Run& run : runs) {
    require(std::uint64_t{run.first_frame} + run.frame_count <= frames, "a run has more frames than there are");
  }
  for (std::size_t i = 0; i < frames; ++i) {
    StackFrame& frame = stack.frames[i];
    require(run_of[i] >= Frame::kNone && run_of[i] < static_cast<std::int64_t>(runs.size()) &&
                frame.module >= Frame::kNone && frame.il.assembly >= Frame::kNone,
            "an index of a frame is not valid");
    const bool is_open = frame.kind == FrameKind::gap && run_of[i] != Frame::kNone;
    if (is_open) frame.why = runs[static_cast<std::size_t>(run_of[i])].why;
  }
}

}  // namespace

void thread_fields(MessageIO& io, Thread& thread) {
  TargetNumbers sent;
  ReceivedTargets received;
  std::vector<Run> runs;
  std::vector<std::int32_t> run_of;
  if (io.is_writing()) {
    runs = thread.stack.runs();
    run_of = thread.stack.run_of_frames(runs);
  }
  std::size_t next_frame = 0;
  io.all([&](MessageIO& all) {
    all.varint(1, thread.os_id);
    all.fixed64(2, thread.clr_id);
    all.string(3, thread.name);
    all.string(4, thread.skipped);
    all.varint(5, thread.frozen_ns);
    all.varint(15, thread.stopping_ns);
    all.enumeration(6, thread.stack.engine, Engine::copy);
    all.varint(7, thread.stack.refusal);
    all.enumeration(10, thread.probe, ProbeResult::failed, ProbeResult::none);
    all.varint(11, thread.overdue, false);
    all.varint(12, thread.walk_off, false);
    all.varint(14, thread.at_risk, false);
    all.varint(13, thread.copy_cut, false);
    all.varint(16, thread.moment, 0);
    received.fields(all);
    all.repeated(8, thread.stack.frames, all.kNoLimit, [&](StackFrame& frame) {
      if (!all.is_writing()) run_of.push_back(Frame::kNone);
      std::int32_t& run = run_of[next_frame++];
      std::uint32_t target = 0;
      if (all.is_writing()) {
        bool is_new = false;
        target = sent.number(frame.target, is_new);
        if (is_new) all.string(kTarget, frame.target);
      }
      all.nested(8, [&](MessageIO& inner) { fields(inner, frame, run, target); });
      if (all.is_writing()) return;
      frame.target = received.at(target);
      name_received(frame);
    });
    all.messages(9, runs, all.kNoLimit, fields);
  });
  if (!io.is_writing()) set_reasons(thread.stack, runs, run_of);
}

}  // namespace mixwalk
