#include "tests/bench/win/freeze_bench.h"

#include "tests/bench/measurements.h"
#include "tests/bench/win/timed_seams.h"
#include "unmanaged/win/live_modules.h"
#include "unmanaged/win/rtl_unwind_step.h"
#include "walker/session/win/thread_list.h"

namespace mixwalk::bench {
namespace {

std::uint64_t in_ns(std::uint64_t cycle_count) {
  return static_cast<std::uint64_t>(static_cast<double>(cycle_count) / cycles_per_ns());
}

}  // namespace

const FreezeBench::Way FreezeBench::kWays[] = {
    {kFloor, &FreezeBench::floor, ProbePolicy::never, false},
    {kSeeded, &FreezeBench::managed_only, ProbePolicy::never, true},
    {kSeededCanary, &FreezeBench::managed_only, ProbePolicy::always, true},
    {kSnapshotNever, &FreezeBench::ours, ProbePolicy::never, true},
    {kSnapshotRisk, &FreezeBench::ours, ProbePolicy::risk, true},
    {kSnapshotAlways, &FreezeBench::ours, ProbePolicy::always, true},
    {kCopy, &FreezeBench::ours, ProbePolicy::never, false},
    {kAuto, &FreezeBench::ours, ProbePolicy::risk, true, false},
};

FreezeBench::FreezeBench(const Parts& parts, std::FILE* rows)
    : parts_(parts),
      rows_(rows),
      walk_(*parts.clr->info, parts.clr->info8.get(), *parts.supervisor),
      probe_(*parts.clr->info, parts.clr->info4.get(), parts.supervisor->ledger()),
      canaries_(parts.services->registry, parts.services->gate, probe_),
      managed_only_(*parts.clr->info, *parts.supervisor),
      names_(parts.clr->info.get(), parts.clr->info8.get()),
      code_(*parts.clr->info, parts.clr->info8.get(), names_, nullptr),
      table_(read_live_modules()),
      modules_(table_.view()),
      sample_(parts.buffers->stack(), parts.buffers->entries()) {}

void FreezeBench::run(int rounds) {
  walk_.warm_up(parts_.clr->info4.get());
  if (!probe_.start()) return;
  canaries_.choose(0, {});
  find_targets();
  cycles_per_ns();
  const std::size_t ways = std::size(kWays);
  // Round -1 is not counted; it warms everything up.
  for (int round = -1; round < rounds; ++round) {
    std::FILE* const rows = rows_;
    if (round < 0) rows_ = nullptr;
    for (std::size_t step = 0; step < ways; ++step) {
      for (std::size_t i = 0; i < targets_.size(); ++i) {
        freeze(kWays[(step + i + static_cast<std::size_t>(round + 1)) % ways], *targets_[i]);
      }
    }
    for (const auto& target : targets_) {
      static const Way kParts{kSnapshotRisk, &FreezeBench::time_parts, ProbePolicy::risk, true};
      freeze(kParts, *target);
    }
    time_together();
    rows_ = rows;
  }
}

// The targets are the fixture's own threads, which are named after their work.
void FreezeBench::find_targets() {
  const std::vector<std::uint32_t> ids = list_threads().value();
  for (const std::uint32_t id : ids) {
    auto target = std::make_unique<Target>(*parts_.supervisor);
    if (!target->thread.open(id)) continue;
    target->os_id = id;
    const std::string name = thread_description(target->thread.handle());
    target->kind = name.substr(0, name.find(' '));
    if (target->kind != "native" && target->kind != "managed" && target->kind != "work") continue;
    targets_.push_back(std::move(target));
  }
}

void FreezeBench::freeze(const Way& way, Target& target) {
  const ThreadClaim claim(parts_.services->registry, target.os_id);
  if (!claim.entry()) return;
  const Canaries::Claimed canary(canaries_, target.os_id);
  const FreezeGate::Pass pass(parts_.services->gate);
  if (!pass) return;
  way_ = &way;
  frames_ = 0;
  (this->*way.freeze)(target, claim.entry()->clr_id);
}

void FreezeBench::floor(Target& target, std::uint64_t) {
  const HANDLE thread = target.thread.handle();
  CONTEXT context;
  context.ContextFlags = CONTEXT_CONTROL | CONTEXT_INTEGER;
  const std::uint64_t begun = target.thread.now_ns();
  SuspendThread(thread);
  GetThreadContext(thread, &context);
  ResumeThread(thread);
  frozen_ns_ = target.thread.now_ns() - begun;
  if (rows_ != nullptr) {
    std::fprintf(rows_, "freeze %s %s %llu 0\n", way_->name, target.kind.c_str(), frozen_ns_);
  }
}

void FreezeBench::managed_only(Target& target, std::uint64_t clr_id) {
  const std::uint64_t begun = target.thread.now_ns();
  {
    const ScopedSuspension suspension(target.thread);
    if (!suspension) return;
    // If a probe fails, the thread is left out of the sample. So few probes fail that the difference does not matter
    // here.
    if (way_->probe == ProbePolicy::always && !probe_.passes()) return;
    managed_only_.walk(target.thread, clr_id);
  }
  frozen_ns_ = target.thread.now_ns() - begun;
  if (rows_ != nullptr) {
    std::fprintf(rows_, "freeze %s %s %llu %zu\n", way_->name, target.kind.c_str(), frozen_ns_,
                 managed_only_.frames());
  }
}

CaptureView FreezeBench::capture_view(const MemoryReader& stack) {
  return {.modules = modules_,
          .code = images_,
          .stack = stack,
          .managed = way_->managed ? &walk_ : nullptr,
          .policy = way_->probe,
          .probe = &probe_,
          .ask_at_risk = way_->ask_at_risk};
}

void FreezeBench::ours(Target& target, std::uint64_t clr_id) {
  capture(target.thread, clr_id, capture_view(stack_), sample_);
  if (sample_.fault != CaptureFault::none) return;
  if (rows_ != nullptr) {
    std::fprintf(rows_, "freeze %s %s %llu %zu\n", way_->name, target.kind.c_str(),
                 sample_.stopping_ns + sample_.frozen_ns, sample_.entry_count);
  }
  time_merge(target);
}

void FreezeBench::time_parts(Target& target, std::uint64_t clr_id) {
  FrozenParts parts;
  TimedThread thread(target.thread, parts);
  TimedWalk walk(walk_, parts);
  TimedProbe probe(probe_, parts);
  const TimedReader stack(stack_, parts.copy);
  const CaptureView view = capture_view(stack);
  const CaptureView timed{.modules = view.modules,
                          .code = view.code,
                          .stack = view.stack,
                          .managed = &walk,
                          .policy = view.policy,
                          .probe = &probe};
  const std::uint64_t begun = cycles();
  capture(thread, clr_id, timed, sample_);
  const std::uint64_t all = cycles() - begun;
  if (rows_ == nullptr || sample_.fault != CaptureFault::none) return;
  const std::uint64_t rest = all - parts.suspend - parts.registers - parts.copy - parts.ask -
                             parts.probe - parts.walk - parts.resume;
  const std::pair<const char*, std::uint64_t> rows[] = {
      {"suspend", parts.suspend}, {"registers", parts.registers}, {"copy", parts.copy},
      {"is-managed", parts.ask},  {"probe", parts.probe},         {"DoStackSnapshot", parts.walk},
      {"resume", parts.resume},   {"leaf-walk-and-rest", rest}};
  for (const auto& [part, sum] : rows) {
    std::fprintf(rows_, "part %s %s %llu\n", part, target.kind.c_str(), in_ns(sum));
  }
}

// Freezes all threads at one moment, as dump --at-once does.
void FreezeBench::time_together() {
  GroupFreeze& group = parts_.supervisor->group();
  group.clear();
  for (const auto& target : targets_) group.add(target->thread.thread());
  std::vector<GroupMember> members(group.size());
  const std::uint64_t frozen_ns = capture_group(group, members, arena_.all(), stack_);
  std::size_t copied = 0;
  for (const GroupMember& member : members) copied += member.sample.fault == CaptureFault::none;
  if (rows_ == nullptr) return;
  std::fprintf(rows_, "together %zu %zu %llu\n", members.size(), copied, frozen_ns);
}

void FreezeBench::time_merge(const Target& target) {
  std::uint64_t rewriting = 0, merging = 0;
  {
    const Timed timed(rewriting);
    sample_.stack.rewrite_pointers();
  }
  Stack stack;
  {
    const Timed timed(merging);
    outside_.begin_stack(GetTickCount64());
    RtlUnwindStep step(sample_.stack, modules_, {&hints_, &outside_});
    stack = merge(sample_, {step, code_, modules_, parts_.buffers->frames()});
    for (const Frame& frame : stack.frames) {
      if (frame.module == Frame::kNone && frame.function != 0) outside_.keep(frame.address);
    }
  }
  if (rows_ == nullptr || stack.engine != Engine::snapshot) return;
  std::size_t unmanaged = 0;
  for (const Frame& frame : stack.frames) unmanaged += frame.kind != FrameKind::managed;
  std::fprintf(rows_, "merge %s %llu %llu %zu %zu\n", target.kind.c_str(), in_ns(merging),
               in_ns(rewriting), stack.frames.size(), unmanaged);

  MergeParts parts;
  RtlUnwindStep plain(sample_.stack, modules_, {&hints_, &outside_});
  TimedStep step(plain, modules_, parts);
  TimedCode code(code_, parts);
  merge(sample_, {step, code, modules_, parts_.buffers->frames()});
  std::fprintf(rows_, "step %llu %llu %llu %llu %llu %llu\n", in_ns(parts.image_step),
               parts.image_steps, in_ns(parts.dynamic_step), parts.dynamic_steps, in_ns(parts.ask),
               parts.asked);
}

}  // namespace mixwalk::bench
