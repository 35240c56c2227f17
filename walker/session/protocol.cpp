#include "walker/session/protocol.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "walker/base/checked_protozero.h"

namespace mixwalk {
namespace {

using protozero::pbf_message;

// Field numbers; a message's own is its number in the outer one.
enum class Outer : protozero::pbf_tag_type {
  hello = 1, dump_request = 2, detach_request = 3, function = 4, module = 5, thread = 6,
  dump_done = 7, detached = 8, record_request = 9, stop_request = 10, recorded_bytes = 11,
  record_done = 12, ledger_offer = 13, problem = 14, visit_failed = 15, assembly = 20,
};
enum class HelloField : protozero::pbf_tag_type {
  protocol = 1, process_id = 2, path = 3, command_line = 4, runtime_name = 5, major = 6,
  minor = 7, build = 8, revision = 9, agent_thread = 10,
};
enum class RequestField : protozero::pbf_tag_type {
  engine = 1, deadline_ms = 2, probe = 3, canary_prefix = 4, thread_id = 5, both_engines = 6,
  at_once = 7,
};
enum class DoneField : protozero::pbf_tag_type { breaker = 1, stood_ns = 2 };
enum class BreakerField : protozero::pbf_tag_type { threads_off = 1, process_off = 2 };
enum class RecordField : protozero::pbf_tag_type {
  sampling = 1, event = 2, period_ns = 3, thread_name = 4, type = 5, every = 6,
  budget = 7,
};
enum class BytesField : protozero::pbf_tag_type { new_file = 1, bytes = 2, progress = 3 };
enum class ProgressField : protozero::pbf_tag_type {
  samples = 1, whole = 2, frozen_p50_ns = 3, frozen_p99_ns = 4, frozen_max_ns = 5,
  interventions = 6, events = 7, stopping_p50_ns = 8, stopping_p99_ns = 9, stopping_max_ns = 10,
  slowed = 11, guessed = 12,
};
enum class FunctionField : protozero::pbf_tag_type { id = 1, text = 2 };
enum class ModuleField : protozero::pbf_tag_type { base = 1, size = 2, timestamp = 3, path = 4 };
enum class AssemblyField : protozero::pbf_tag_type { path = 1, mvid = 2, optimised = 3 };
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
enum class DetachedField : protozero::pbf_tag_type { result = 1 };
enum class LedgerField : protozero::pbf_tag_type { section = 1 };
enum class ProblemField : protozero::pbf_tag_type { text = 1 };
enum class FailedField : protozero::pbf_tag_type { why = 1 };

// An enumeration's value as it crosses the pipe.
constexpr auto to_number = [](auto value) { return static_cast<std::uint32_t>(value); };

template <class Enum>
Enum checked(std::uint32_t value, Enum last) {
  if (value > to_number(last)) throw std::out_of_range("enumeration");
  return static_cast<Enum>(value);
}

// Folklore: protozero's get_bool reads its byte without checking that there is one; a message that ended with the
// field's tag made it read beyond the end. (Found by protocol_fuzz; corpus: bool_cut_off.)
template <class Field>
bool get_flag(pbf_message<Field>& in) {
  return in.get_uint32() != 0;
}

void put(MessageBuilder<HelloField>& out, const Hello& hello) {
  out.add_uint32(HelloField::protocol, hello.protocol);
  out.add_uint32(HelloField::process_id, hello.process.id);
  out.add_string(HelloField::path, hello.process.path);
  out.add_string(HelloField::command_line, hello.process.command_line);
  out.add_string(HelloField::runtime_name, hello.runtime.name);
  out.add_uint32(HelloField::major, hello.runtime.major);
  out.add_uint32(HelloField::minor, hello.runtime.minor);
  out.add_uint32(HelloField::build, hello.runtime.build);
  out.add_uint32(HelloField::revision, hello.runtime.revision);
  out.add_uint32(HelloField::agent_thread, hello.agent_thread);
}

Hello get_hello(pbf_message<HelloField> in) {
  Hello hello;
  while (in.next()) {
    switch (in.tag()) {
      case HelloField::protocol: hello.protocol = in.get_uint32(); break;
      case HelloField::process_id: hello.process.id = in.get_uint32(); break;
      case HelloField::agent_thread: hello.agent_thread = in.get_uint32(); break;
      case HelloField::path: hello.process.path = in.get_string(); break;
      case HelloField::command_line: hello.process.command_line = in.get_string(); break;
      case HelloField::runtime_name: hello.runtime.name = in.get_string(); break;
      case HelloField::major: hello.runtime.major = static_cast<std::uint16_t>(in.get_uint32()); break;
      case HelloField::minor: hello.runtime.minor = static_cast<std::uint16_t>(in.get_uint32()); break;
      case HelloField::build: hello.runtime.build = static_cast<std::uint16_t>(in.get_uint32()); break;
      case HelloField::revision:
        hello.runtime.revision = static_cast<std::uint16_t>(in.get_uint32());
        break;
      default: in.skip();
    }
  }
  return hello;
}

void put(MessageBuilder<ModuleField>& out, const Module& module) {
  out.add_fixed64(ModuleField::base, module.base);
  out.add_uint32(ModuleField::size, module.size);
  out.add_uint32(ModuleField::timestamp, module.timestamp);
  out.add_string(ModuleField::path, module.path);
}

Module get_module(pbf_message<ModuleField> in) {
  Module module;
  while (in.next()) {
    switch (in.tag()) {
      case ModuleField::base: module.base = in.get_fixed64(); break;
      case ModuleField::size: module.size = in.get_uint32(); break;
      case ModuleField::timestamp: module.timestamp = in.get_uint32(); break;
      case ModuleField::path: module.path = in.get_string(); break;
      default: in.skip();
    }
  }
  return module;
}

void put(MessageBuilder<AssemblyField>& out, const Assembly& assembly) {
  out.add_string(AssemblyField::path, assembly.path);
  out.add_bytes(AssemblyField::mvid, reinterpret_cast<const char*>(assembly.mvid.data()),
                assembly.mvid.size());
  if (assembly.optimised) out.add_bool(AssemblyField::optimised, true);
}

Assembly get_assembly(pbf_message<AssemblyField> in) {
  Assembly assembly{.path = {}, .mvid = {}, .optimised = false};
  while (in.next()) {
    switch (in.tag()) {
      case AssemblyField::path: assembly.path = in.get_string(); break;
      case AssemblyField::mvid: {
        const auto mvid = in.get_view();
        if (mvid.size() != assembly.mvid.size()) throw std::out_of_range("mvid");
        std::memcpy(assembly.mvid.data(), mvid.data(), mvid.size());
        break;
      }
      case AssemblyField::optimised: assembly.optimised = get_flag(in); break;
      default: in.skip();
    }
  }
  return assembly;
}

// `target`: the number of frame.target among the thread's, from 1; 0: none.
void put(MessageBuilder<FrameField>& out, const Frame& frame, std::uint32_t target) {
  out.add_uint32(FrameField::kind, to_number(frame.kind));
  out.add_uint32(FrameField::trust, to_number(frame.trust));
  out.add_uint32(FrameField::address_kind, to_number(frame.address_kind));
  out.add_fixed64(FrameField::address, frame.address);
  out.add_fixed64(FrameField::stack_pointer, frame.stack_pointer);
  if (frame.function != 0) out.add_fixed64(FrameField::function, frame.function);
  if (frame.module != Frame::kNone) out.add_int32(FrameField::module, frame.module);
  if (frame.run != Frame::kNone) out.add_int32(FrameField::run, frame.run);
  if (target != 0) out.add_uint32(FrameField::target, target);
  if (frame.il.assembly == Frame::kNone) return;
  out.add_int32(FrameField::assembly, frame.il.assembly);
  out.add_uint32(FrameField::method, frame.il.method);
  out.add_uint32(FrameField::il_offset, frame.il.offset);
}

// The received targets of a thread's stubs. A message could name a long target in each of a million frames: copies
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

Frame get_frame(pbf_message<FrameField> in, ReceivedTargets& targets) {
  Frame frame;
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
      case FrameField::run: frame.run = in.get_int32(); break;
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

// The targets of a thread's stubs, each once: a recursion through a stub has tens of thousands of frames. Targets
// beyond kMaxTargetBytes are left out, since a receiver would refuse a message that is too long.
class TargetNumbers {
 public:
  static constexpr std::size_t kMaxTargetBytes = 1 << 20;

  // 0: the frame has no target, or it is left out. `is_new`: its text has to be sent.
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

void put(MessageBuilder<ThreadField>& out, const Thread& thread) {
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
  for (const Frame& frame : thread.stack.frames) {
    bool is_new = false;
    const std::uint32_t target = targets.number(frame.target, is_new);
    if (is_new) out.add_string(ThreadField::target, frame.target);
    MessageBuilder<FrameField> inner(out, ThreadField::frame);
    put(inner, frame, target);
  }
  for (const Run& run : thread.stack.runs) {
    MessageBuilder<RunField> inner(out, ThreadField::run);
    put(inner, run);
  }
}

// Throws where an index inside the stack is invalid, so that later code need not check.
void check_indices(const Stack& stack) {
  const auto runs = static_cast<std::int64_t>(stack.runs.size());
  for (const Frame& frame : stack.frames) {
    if (frame.run < Frame::kNone || frame.run >= runs || frame.module < Frame::kNone ||
        frame.il.assembly < Frame::kNone) {
      throw std::out_of_range("frame");
    }
  }
  const std::uint64_t frames = stack.frames.size();
  for (const Run& run : stack.runs) {
    if (std::uint64_t{run.first_frame} + run.frame_count > frames) throw std::out_of_range("run");
  }
}

Thread get_thread(pbf_message<ThreadField> in) {
  Thread thread;
  ReceivedTargets targets;
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
      case ThreadField::frame: thread.stack.frames.push_back(get_frame(in.get_message(), targets)); break;
      case ThreadField::target: targets.add(in.get_string()); break;
      case ThreadField::run: thread.stack.runs.push_back(get_run(in.get_message())); break;
      default: in.skip();
    }
  }
  check_indices(thread.stack);
  return thread;
}

void put(MessageBuilder<RequestField>& out, const DumpRequest& request) {
  out.add_uint32(RequestField::engine, to_number(request.engine));
  out.add_uint32(RequestField::deadline_ms, request.deadline_ms);
  out.add_uint32(RequestField::probe, to_number(request.probe));
  if (!request.canary_prefix.empty()) {
    out.add_string(RequestField::canary_prefix, request.canary_prefix);
  }
  for (const std::uint32_t id : request.thread_ids) out.add_uint32(RequestField::thread_id, id);
  if (request.both_engines) out.add_bool(RequestField::both_engines, true);
  if (request.at_once) out.add_bool(RequestField::at_once, true);
}

DumpRequest get_dump_request(pbf_message<RequestField> in) {
  DumpRequest request;
  while (in.next()) {
    switch (in.tag()) {
      case RequestField::engine: request.engine = checked(in.get_uint32(), Engine::automatic); break;
      case RequestField::deadline_ms:
        request.deadline_ms = in.get_uint32();
        if (request.deadline_ms == 0 || request.deadline_ms > kMaxDeadlineMs) {
          throw std::out_of_range("deadline");
        }
        break;
      case RequestField::probe:
        request.probe = checked(in.get_uint32(), ProbePolicy::always);
        break;
      case RequestField::canary_prefix: request.canary_prefix = in.get_string(); break;
      case RequestField::thread_id: request.thread_ids.push_back(in.get_uint32()); break;
      case RequestField::both_engines: request.both_engines = get_flag(in); break;
      case RequestField::at_once: request.at_once = get_flag(in); break;
      default: in.skip();
    }
  }
  return request;
}

void put(MessageBuilder<BreakerField>& out, const BreakerState& breaker) {
  out.add_uint32(BreakerField::threads_off, breaker.threads_off);
  out.add_bool(BreakerField::process_off, breaker.process_off);
}

BreakerState get_breaker(pbf_message<BreakerField> in) {
  BreakerState breaker;
  while (in.next()) {
    switch (in.tag()) {
      case BreakerField::threads_off: breaker.threads_off = in.get_uint32(); break;
      case BreakerField::process_off: breaker.process_off = get_flag(in); break;
      default: in.skip();
    }
  }
  return breaker;
}

DumpDone get_dump_done(pbf_message<DoneField> in) {
  DumpDone done;
  while (in.next()) {
    switch (in.tag()) {
      case DoneField::breaker: done.breaker = get_breaker(in.get_message()); break;
      case DoneField::stood_ns:
        if (done.moments.size() == kMaxMoments) throw std::out_of_range("moments");
        done.moments.push_back({in.get_uint64()});
        break;
      default: in.skip();
    }
  }
  return done;
}

RecordRequest get_record_request(pbf_message<RecordField> in) {
  RecordRequest request;
  while (in.next()) {
    switch (in.tag()) {
      case RecordField::sampling: request.sampling = get_dump_request(in.get_message()); break;
      case RecordField::event:
        request.event = checked(in.get_uint32(), SampleEvent::module_load);
        break;
      case RecordField::period_ns: request.period_ns = in.get_uint64(); break;
      case RecordField::thread_name: request.thread_names.push_back(in.get_string()); break;
      case RecordField::type: request.type = in.get_string(); break;
      case RecordField::every: request.every = in.get_uint64(); break;
      case RecordField::budget: request.budget = in.get_uint32(); break;
      default: in.skip();
    }
  }
  if (request.event == SampleEvent::dump) throw std::out_of_range("event");
  if (request.period_ns < kMinPeriodNs || request.period_ns > kMaxPeriodNs) {
    throw std::out_of_range("period");
  }
  if (request.every == 0) throw std::out_of_range("every");
  if (request.budget > kMaxBudget) throw std::out_of_range("budget");
  return request;
}

void put(MessageBuilder<ProgressField>& out, const RecordProgress& progress) {
  out.add_uint64(ProgressField::samples, progress.samples);
  out.add_uint64(ProgressField::whole, progress.whole);
  if (progress.guessed != 0) out.add_uint64(ProgressField::guessed, progress.guessed);
  out.add_uint64(ProgressField::frozen_p50_ns, progress.frozen.p50_ns);
  out.add_uint64(ProgressField::frozen_p99_ns, progress.frozen.p99_ns);
  out.add_uint64(ProgressField::frozen_max_ns, progress.frozen.max_ns);
  out.add_uint64(ProgressField::interventions, progress.interventions);
  out.add_uint64(ProgressField::events, progress.events);
  out.add_uint64(ProgressField::stopping_p50_ns, progress.stopping.p50_ns);
  out.add_uint64(ProgressField::stopping_p99_ns, progress.stopping.p99_ns);
  out.add_uint64(ProgressField::stopping_max_ns, progress.stopping.max_ns);
  if (progress.slowed) out.add_bool(ProgressField::slowed, true);
}

RecordProgress get_progress(pbf_message<ProgressField> in) {
  RecordProgress progress;
  while (in.next()) {
    switch (in.tag()) {
      case ProgressField::samples: progress.samples = in.get_uint64(); break;
      case ProgressField::whole: progress.whole = in.get_uint64(); break;
      case ProgressField::guessed: progress.guessed = in.get_uint64(); break;
      case ProgressField::frozen_p50_ns: progress.frozen.p50_ns = in.get_uint64(); break;
      case ProgressField::frozen_p99_ns: progress.frozen.p99_ns = in.get_uint64(); break;
      case ProgressField::frozen_max_ns: progress.frozen.max_ns = in.get_uint64(); break;
      case ProgressField::interventions: progress.interventions = in.get_uint64(); break;
      case ProgressField::events: progress.events = in.get_uint64(); break;
      case ProgressField::stopping_p50_ns: progress.stopping.p50_ns = in.get_uint64(); break;
      case ProgressField::stopping_p99_ns: progress.stopping.p99_ns = in.get_uint64(); break;
      case ProgressField::stopping_max_ns: progress.stopping.max_ns = in.get_uint64(); break;
      case ProgressField::slowed: progress.slowed = get_flag(in); break;
      default: in.skip();
    }
  }
  return progress;
}

RecordedBytes get_recorded_bytes(pbf_message<BytesField> in) {
  RecordedBytes recorded;
  while (in.next()) {
    switch (in.tag()) {
      case BytesField::new_file: recorded.new_file = get_flag(in); break;
      case BytesField::bytes: recorded.bytes = in.get_string(); break;
      case BytesField::progress: recorded.progress = get_progress(in.get_message()); break;
      default: in.skip();
    }
  }
  return recorded;
}

struct Encoder {
  MessageBuilder<Outer>& out;

  void operator()(const Hello& hello) const {
    MessageBuilder<HelloField> inner(out, Outer::hello);
    put(inner, hello);
  }
  void operator()(const DumpRequest& request) const {
    MessageBuilder<RequestField> inner(out, Outer::dump_request);
    put(inner, request);
  }
  void operator()(const DetachRequest&) const { out.add_message(Outer::detach_request, std::string()); }
  void operator()(const FunctionName& function) const {
    MessageBuilder<FunctionField> inner(out, Outer::function);
    inner.add_fixed64(FunctionField::id, function.id);
    inner.add_string(FunctionField::text, function.text);
  }
  void operator()(const Module& module) const {
    MessageBuilder<ModuleField> inner(out, Outer::module);
    put(inner, module);
  }
  void operator()(const Assembly& assembly) const {
    MessageBuilder<AssemblyField> inner(out, Outer::assembly);
    put(inner, assembly);
  }
  void operator()(const Thread& thread) const {
    MessageBuilder<ThreadField> inner(out, Outer::thread);
    put(inner, thread);
  }
  void operator()(const DumpDone& done) const {
    MessageBuilder<DoneField> inner(out, Outer::dump_done);
    {
      MessageBuilder<BreakerField> breaker(inner, DoneField::breaker);
      put(breaker, done.breaker);
    }
    for (const Moment& moment : done.moments) {
      inner.add_uint64(DoneField::stood_ns, moment.stood_ns);
    }
  }
  void operator()(const RecordRequest& request) const {
    MessageBuilder<RecordField> inner(out, Outer::record_request);
    {
      MessageBuilder<RequestField> sampling(inner, RecordField::sampling);
      put(sampling, request.sampling);
    }
    inner.add_uint32(RecordField::event, to_number(request.event));
    inner.add_uint64(RecordField::period_ns, request.period_ns);
    for (const std::string& name : request.thread_names) {
      inner.add_string(RecordField::thread_name, name);
    }
    if (!request.type.empty()) inner.add_string(RecordField::type, request.type);
    if (request.every != 1) inner.add_uint64(RecordField::every, request.every);
    if (request.budget != 0) inner.add_uint32(RecordField::budget, request.budget);
  }
  void operator()(const StopRequest&) const { out.add_message(Outer::stop_request, std::string()); }
  void operator()(const RecordedBytes& recorded) const {
    MessageBuilder<BytesField> inner(out, Outer::recorded_bytes);
    if (recorded.new_file) inner.add_bool(BytesField::new_file, true);
    inner.add_string(BytesField::bytes, recorded.bytes);
    MessageBuilder<ProgressField> progress(inner, BytesField::progress);
    put(progress, recorded.progress);
  }
  void operator()(const RecordDone& done) const {
    MessageBuilder<BreakerField> inner(out, Outer::record_done);
    put(inner, done.breaker);
  }
  void operator()(const Detached& detached) const {
    MessageBuilder<DetachedField> inner(out, Outer::detached);
    inner.add_uint32(DetachedField::result, detached.result);
  }
  void operator()(const LedgerOffer& offer) const {
    MessageBuilder<LedgerField> inner(out, Outer::ledger_offer);
    inner.add_fixed64(LedgerField::section, offer.section);
  }
  void operator()(const Problem& problem) const {
    MessageBuilder<ProblemField> inner(out, Outer::problem);
    inner.add_string(ProblemField::text, problem.text);
  }
  void operator()(const VisitFailed& failed) const {
    MessageBuilder<FailedField> inner(out, Outer::visit_failed);
    inner.add_uint32(FailedField::why, to_number(failed.why));
  }
};

Message get(pbf_message<Outer>& in) {
  switch (in.tag()) {
    case Outer::hello: return get_hello(in.get_message());
    case Outer::dump_request: return get_dump_request(in.get_message());
    case Outer::detach_request: in.get_view(); return DetachRequest{};
    case Outer::function: {
      FunctionName function;
      pbf_message<FunctionField> inner = in.get_message();
      while (inner.next()) {
        switch (inner.tag()) {
          case FunctionField::id: function.id = inner.get_fixed64(); break;
          case FunctionField::text: function.text = inner.get_string(); break;
          default: inner.skip();
        }
      }
      return function;
    }
    case Outer::module: return get_module(in.get_message());
    case Outer::assembly: return get_assembly(in.get_message());
    case Outer::thread: return get_thread(in.get_message());
    case Outer::dump_done: return get_dump_done(in.get_message());
    case Outer::record_request: return get_record_request(in.get_message());
    case Outer::stop_request: in.get_view(); return StopRequest{};
    case Outer::recorded_bytes: return get_recorded_bytes(in.get_message());
    case Outer::record_done: return RecordDone{get_breaker(in.get_message())};
    case Outer::detached: {
      Detached detached;
      pbf_message<DetachedField> inner = in.get_message();
      while (inner.next(DetachedField::result)) detached.result = inner.get_uint32();
      return detached;
    }
    case Outer::ledger_offer: {
      LedgerOffer offer;
      pbf_message<LedgerField> inner = in.get_message();
      while (inner.next(LedgerField::section)) offer.section = inner.get_fixed64();
      return offer;
    }
    case Outer::problem: {
      Problem problem;
      pbf_message<ProblemField> inner = in.get_message();
      while (inner.next(ProblemField::text)) problem.text = inner.get_string();
      return problem;
    }
    case Outer::visit_failed: {
      VisitFailed failed;
      pbf_message<FailedField> inner = in.get_message();
      while (inner.next(FailedField::why)) {
        failed.why = checked(inner.get_uint32(), VisitFailed::Why::defect);
      }
      return failed;
    }
  }
  throw std::out_of_range("message");
}

}  // namespace

std::string encode(const Message& message) {
  std::string bytes(kLengthBytes, '\0');
  MessageBuilder<Outer> out(bytes);
  std::visit(Encoder{out}, message);
  auto length = static_cast<std::uint32_t>(bytes.size() - kLengthBytes);
  for (std::size_t i = 0; i < kLengthBytes; ++i) bytes[i] = static_cast<char>(length >> (8 * i));
  return bytes;
}

std::array<char, 8> encode_failed(VisitFailed::Why why) noexcept {
  constexpr char kTag = static_cast<char>(static_cast<unsigned>(Outer::visit_failed) << 3 | 2);
  constexpr char kWhyTag = static_cast<char>(static_cast<unsigned>(FailedField::why) << 3);
  return {4, 0, 0, 0, kTag, 2, kWhyTag, static_cast<char>(why)};
}

std::optional<Message> decode(std::string_view bytes) {
  try {
    pbf_message<Outer> in(protozero::data_view(bytes.data(), bytes.size()));
    if (!in.next()) return std::nullopt;
    Message message = get(in);
    if (in.next()) return std::nullopt;
    return message;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::optional<std::size_t> decode_length(std::string_view bytes) noexcept {
  if (bytes.size() < kLengthBytes) return std::nullopt;
  std::size_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    length |= std::size_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
  }
  if (length == 0 || length > kMaxMessageBytes) return std::nullopt;
  return length;
}

}  // namespace mixwalk
