#include "walker/session/thread_message.h"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "walker/session/message_fields.h"

namespace mixwalk {
namespace {

using protozero::pbf_message;

// Field numbers.
enum class ThreadField : protozero::pbf_tag_type {
  os_id = 1, clr_id = 2, name = 3, skipped = 4, frozen_ns = 5, engine = 6, refusal = 7, frame = 8,
  run = 9, probe = 10, overdue = 11, walk_off = 12, copy_cut = 13,
  at_risk = 14, stopping_ns = 15, moment = 16, target = 17,
};
enum class FrameField : protozero::pbf_tag_type {
  kind = 1, trust = 2, address_kind = 3, address = 4, stack_pointer = 5, function = 6, module = 7,
  run = 8, target = 9, assembly = 20, method = 21, il_offset = 22,
};
enum class RunField : protozero::pbf_tag_type {
  position = 1, end = 2, why = 3, first_frame = 4, frame_count = 5,
};

// `target`: the number of frame.target among the thread's targets, from 1 on; 0 if the frame has none.
void put(MessageBuilder<FrameField>& out, const StackFrame& frame, std::int32_t run, std::uint32_t target) {
  out.add_uint32(FrameField::kind, to_number(frame.kind));
  out.add_uint32(FrameField::trust, to_number(frame.trust));
  out.add_uint32(FrameField::address_kind, to_number(frame.address_kind));
  out.add_fixed64(FrameField::address, frame.address);
  out.add_fixed64(FrameField::stack_pointer, frame.stack_pointer);
  if (frame.function != 0) out.add_fixed64(FrameField::function, frame.function);
  if (frame.module != Frame::kNone) out.add_int32(FrameField::module, frame.module);
  if (run != Frame::kNone) out.add_int32(FrameField::run, run);
  if (target != 0) out.add_uint32(FrameField::target, target);
  if (frame.il.assembly == Frame::kNone) return;
  out.add_int32(FrameField::assembly, frame.il.assembly);
  out.add_uint32(FrameField::method, frame.il.method);
  out.add_uint32(FrameField::il_offset, frame.il.offset);
}

// The received targets of a thread's stubs. A message could name a long target in each of a million frames, so copies
// beyond kMaxBytes are left out.
class ReceivedTargets {
 public:
  void add(std::string target) { targets_.push_back(std::move(target)); }
  const std::string& at(std::uint32_t number) {
    if (number > targets_.size()) throw std::out_of_range("target");
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

// Sets `run` to the frame's run, if it has one.
StackFrame get_frame(pbf_message<FrameField> in, ReceivedTargets& targets, std::int32_t& run) {
  StackFrame frame;
  while (in.next()) {
    switch (in.tag()) {
      case FrameField::kind: frame.kind = checked(in.get_uint32(), FrameKind::gap); break;
      case FrameField::trust: frame.trust = checked(in.get_uint32(), kLastTrust); break;
      case FrameField::address_kind:
        frame.address_kind = checked(in.get_uint32(), AddressKind::return_address);
        break;
      case FrameField::address: frame.address = in.get_fixed64(); break;
      case FrameField::stack_pointer: frame.stack_pointer = in.get_fixed64(); break;
      case FrameField::function: frame.function = in.get_fixed64(); break;
      case FrameField::module: frame.module = in.get_int32(); break;
      case FrameField::run: run = in.get_int32(); break;
      case FrameField::target: frame.target = targets.at(in.get_uint32()); break;
      case FrameField::assembly: frame.il.assembly = in.get_int32(); break;
      case FrameField::method: frame.il.method = in.get_uint32(); break;
      case FrameField::il_offset: frame.il.offset = in.get_uint32(); break;
      default: in.skip();
    }
  }
  return frame;
}

void put(MessageBuilder<RunField>& out, const Run& run) {
  out.add_uint32(RunField::position, to_number(run.position));
  out.add_uint32(RunField::end, to_number(run.end));
  out.add_uint32(RunField::why, to_number(run.why));
  out.add_uint32(RunField::first_frame, run.first_frame);
  out.add_uint32(RunField::frame_count, run.frame_count);
}

Run get_run(pbf_message<RunField> in) {
  Run run;
  while (in.next()) {
    switch (in.tag()) {
      case RunField::position: run.position = checked(in.get_uint32(), RunPosition::whole); break;
      case RunField::end: run.end = checked(in.get_uint32(), RunEnd::open); break;
      case RunField::why: run.why = checked(in.get_uint32(), kLastOpenReason); break;
      case RunField::first_frame: run.first_frame = in.get_uint32(); break;
      case RunField::frame_count: run.frame_count = in.get_uint32(); break;
      default: in.skip();
    }
  }
  return run;
}

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

// Gives each gap the reason of its run. Throws if an index inside the stack is invalid, so that later code need not
// check. `run_of`: the run of each frame. The rest of the runs follows from the frames.
void set_reasons(Stack& stack, const std::vector<Run>& runs, const std::vector<std::int32_t>& run_of) {
  const std::uint64_t frames = stack.frames.size();
  for (const Run& run : runs) {
    if (std::uint64_t{run.first_frame} + run.frame_count > frames) throw std::out_of_range("run");
  }
  for (std::size_t i = 0; i < frames; ++i) {
    Frame& frame = stack.frames[i];
    if (run_of[i] < Frame::kNone || run_of[i] >= static_cast<std::int64_t>(runs.size()) ||
        frame.module < Frame::kNone || frame.il.assembly < Frame::kNone) {
      throw std::out_of_range("frame");
    }
    const bool is_open = frame.kind == FrameKind::gap && run_of[i] != Frame::kNone;
    if (is_open) frame.why = runs[static_cast<std::size_t>(run_of[i])].why;
  }
}

}  // namespace

void put_thread(protozero::pbf_writer& outer, protozero::pbf_tag_type field, const Thread& thread) {
  MessageBuilder<ThreadField> out(outer, field);
  out.add_uint32(ThreadField::os_id, thread.os_id);
  out.add_fixed64(ThreadField::clr_id, thread.clr_id);
  out.add_string(ThreadField::name, thread.name);
  out.add_string(ThreadField::skipped, thread.skipped);
  out.add_uint64(ThreadField::frozen_ns, thread.frozen_ns);
  out.add_uint64(ThreadField::stopping_ns, thread.stopping_ns);
  out.add_uint32(ThreadField::engine, to_number(thread.stack.engine));
  out.add_uint32(ThreadField::refusal, thread.stack.refusal);
  if (thread.probe != ProbeResult::none) out.add_uint32(ThreadField::probe, to_number(thread.probe));
  if (thread.overdue) out.add_bool(ThreadField::overdue, true);
  if (thread.walk_off) out.add_bool(ThreadField::walk_off, true);
  if (thread.at_risk) out.add_bool(ThreadField::at_risk, true);
  if (thread.copy_cut) out.add_bool(ThreadField::copy_cut, true);
  if (thread.moment != 0) out.add_uint32(ThreadField::moment, thread.moment);
  TargetNumbers targets;
  const std::vector<std::int32_t> run_of = thread.stack.run_of_frames();
  for (std::size_t i = 0; i < run_of.size(); ++i) {
    const StackFrame& frame = thread.stack.frames[i];
    bool is_new = false;
    const std::uint32_t target = targets.number(frame.target, is_new);
    if (is_new) out.add_string(ThreadField::target, frame.target);
    MessageBuilder<FrameField> inner(out, ThreadField::frame);
    put(inner, frame, run_of[i], target);
  }
  for (const Run& run : thread.stack.runs()) {
    MessageBuilder<RunField> inner(out, ThreadField::run);
    put(inner, run);
  }
}

Thread get_thread(protozero::data_view bytes) {
  pbf_message<ThreadField> in(bytes);
  Thread thread;
  ReceivedTargets targets;
  std::vector<Run> runs;
  std::vector<std::int32_t> run_of;
  while (in.next()) {
    switch (in.tag()) {
      case ThreadField::os_id: thread.os_id = in.get_uint32(); break;
      case ThreadField::clr_id: thread.clr_id = in.get_fixed64(); break;
      case ThreadField::name: thread.name = in.get_string(); break;
      case ThreadField::skipped: thread.skipped = in.get_string(); break;
      case ThreadField::frozen_ns: thread.frozen_ns = in.get_uint64(); break;
      case ThreadField::stopping_ns: thread.stopping_ns = in.get_uint64(); break;
      case ThreadField::engine: thread.stack.engine = checked(in.get_uint32(), Engine::copy); break;
      case ThreadField::refusal: thread.stack.refusal = in.get_uint32(); break;
      case ThreadField::probe: thread.probe = checked(in.get_uint32(), ProbeResult::failed); break;
      case ThreadField::overdue: thread.overdue = get_flag(in); break;
      case ThreadField::walk_off: thread.walk_off = get_flag(in); break;
      case ThreadField::at_risk: thread.at_risk = get_flag(in); break;
      case ThreadField::copy_cut: thread.copy_cut = get_flag(in); break;
      case ThreadField::moment: thread.moment = in.get_uint32(); break;
      case ThreadField::frame:
        run_of.push_back(Frame::kNone);
        thread.stack.frames.push_back(get_frame(in.get_message(), targets, run_of.back()));
        break;
      case ThreadField::target: targets.add(in.get_string()); break;
      case ThreadField::run: runs.push_back(get_run(in.get_message())); break;
      default: in.skip();
    }
  }
  set_reasons(thread.stack, runs, run_of);
  return thread;
}

}  // namespace mixwalk
