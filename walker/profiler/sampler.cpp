#include "walker/profiler/sampler.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

#include "unmanaged/step/open_pages.h"
#include "unmanaged/win/guarded.h"
#include "unmanaged/win/plain_memory.h"
#include "unmanaged/win/rtl_unwind_step.h"
#include "walker/merge/runtime_code.h"
#include "walker/merge/stub_callees.h"
#include "walker/model/skipped_words.h"
#include "walker/suspended/capture.h"

namespace mixwalk {
namespace {

// Whether unloaded code can be the reason for a gap or for guessed frames in a stack.
bool lacks_code(OpenReason why) {
  switch (why) {
    case OpenReason::no_unwind:
    case OpenReason::bad_unwind:
    case OpenReason::no_call:
    case OpenReason::ended_early: return true;
    default: return false;
  }
}

bool lacks_code(const Stack& stack) {
  return stack.completeness() == Completeness::guessed ||
         std::ranges::any_of(stack.frames, [](const Frame& frame) { return lacks_code(frame.why); });
}

// An earlier copy of a stack, at its original addresses.
class HeldStack final : public MemoryReader {
 public:
  HeldStack(std::uint64_t begin, std::span<const std::byte> bytes) noexcept
      : begin_(begin), bytes_(bytes) {}
  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    return read_up_to(address, into, bytes) == bytes;
  }
  std::size_t read_up_to(std::uint64_t address, void* into,
                         std::size_t bytes) const noexcept override {
    const std::uint64_t from = address - begin_;
    if (from >= bytes_.size()) return 0;
    const std::size_t there = std::min(bytes, bytes_.size() - static_cast<std::size_t>(from));
    std::memcpy(into, bytes_.data() + from, there);
    return there;
  }

 private:
  std::uint64_t begin_;
  std::span<const std::byte> bytes_;
};

}  // namespace

Sampler::Sampler(ClrInterfaces& clr, const SamplerServices& services, Supervisor& supervisor,
                 const SampleBuffers& buffers)
    : clr_(clr),
      services_(services),
      supervisor_(supervisor),
      buffers_(buffers),
      walk_(*clr.info, clr.info8.get(), supervisor),
      probe_(*clr.info, clr.info4.get(), supervisor.ledger()),
      canaries_(services.registry, services.gate, probe_),
      names_(clr, services.unload_gate, images_) {}

void Sampler::forget() {
  names_.forget();
  images_.forget_numbers();
}

void Sampler::begin(const DumpRequest& request) {
  paused_ms_ = 0;
  begin_round();
  walk_.warm_up(clr_.info4.get());
  images_.begin();
  probe_prepared_ = false;
  if (request.engine == Engine::snapshot) prepare_probe(request);
}

void Sampler::prepare_probe(const DumpRequest& request) {
  if (std::exchange(probe_prepared_, true) || request.probe == ProbePolicy::never) return;
  if (probe_.start()) canaries_.choose(request.canary_id, request.canary_prefix);
}

const char* Sampler::obstacle() noexcept {
  if (obstacle_ != nullptr || !supervisor_.is_silent()) return obstacle_;
  const ULONGLONG begun = GetTickCount64();
  const Supervisor::Silence silence = supervisor_.wait_while_silent(silence_left_ms_);
  const ULONGLONG waited = GetTickCount64() - begun;
  silence_left_ms_ -= static_cast<DWORD>(std::min<ULONGLONG>(waited, silence_left_ms_));
  switch (silence) {
    case Supervisor::Silence::none: break;
    case Supervisor::Silence::stopped:
      obstacle_ = "the program has stopped the thread of mixwalk.dll that ends a freeze in time, so nothing is frozen "
                  "any more";
      break;
    case Supervisor::Silence::late:
      static_assert(kMaxSilenceMs == 8'000);
      obstacle_ = "the thread of mixwalk.dll that ends a freeze in time has not run for 8 s, so nothing is frozen any "
                  "more: the machine is very busy, or the program keeps that thread from running";
      break;
  }
  return obstacle_;
}

bool Sampler::is_own_thread(DWORD id) const noexcept {
  return id == GetCurrentThreadId() || id == supervisor_.thread_id() || probe_.is_own_thread(id);
}

// Nearly every copy can be walked to the root without the runtime (LookReasons::lacks_runtime).
std::optional<Sampler::Sample> Sampler::sample(WindowsThread& thread, std::uint32_t os_id,
                                               const DumpRequest& request, Last* last) {
  std::optional<Sample> result = sample_by(request.engine, thread, os_id, request, last);
  if (!result || !result->again.lacks_runtime) return result;
  prepare_probe(request);
  std::optional<Sample> asked = sample_by(Engine::snapshot, thread, os_id, request, last);
  if (!asked) return asked;
  asked->thread.frozen_ns = std::max(asked->thread.frozen_ns, result->thread.frozen_ns);
  asked->thread.stopping_ns = std::max(asked->thread.stopping_ns, result->thread.stopping_ns);
  return asked->thread.skipped.empty() ? std::move(asked) : std::move(result);
}

std::optional<Sampler::Sample> Sampler::sample_by(Engine engine, WindowsThread& thread,
                                                  std::uint32_t os_id, const DumpRequest& request,
                                                  Last* last) {
  Looks looks(last != nullptr ? Looks::kOfRecording : Looks::kOfDump);
  std::uint64_t longest_ns = 0, longest_stop_ns = 0;
  std::optional<Sample> partial;  // a stack with a gap, which is better than none
  while (true) {
    Sample result{.thread = {.os_id = os_id}};
    if (!look(result, engine, thread, request, last)) return std::nullopt;
    longest_ns = std::max(longest_ns, result.thread.frozen_ns);
    longest_stop_ns = std::max(longest_stop_ns, result.thread.stopping_ns);
    if (result.fault == CaptureFault::not_now && obstacle() != nullptr) return result;
    const Looks::Next next = looks.after(result.again, [this](std::uint32_t ms) { return pause(ms); });
    if (next == Looks::Next::keep_and_again) partial = std::move(result);
    if (next != Looks::Next::none) continue;
    if (partial && !result.thread.skipped.empty()) result = std::move(*partial);
    result.thread.frozen_ns = longest_ns;
    result.thread.stopping_ns = longest_stop_ns;
    return result;
  }
}

// Returns false if there is no time left for a pause.
bool Sampler::pause(DWORD pause_ms) {
  if (paused_ms_ + pause_ms > Looks::kMaxPausesMs) return false;
  const ULONGLONG begun = GetTickCount64();
  Sleep(pause_ms);
  // Under Windows a pause takes up to 16 ms more.
  paused_ms_ += std::max(pause_ms, static_cast<DWORD>(GetTickCount64() - begun));
  return true;
}

// Updates what the sampler knows.
void Sampler::begin_look() {
  read_unloads();
  names_.begin(names_.mark(), images_.unloads().mark());
}

void Sampler::drop_stale(Last& last) {
  if (last.generation == images_.generation() && names_.still_hold(last.dependencies, names_.mark())) {
    last.dependencies.mark = names_.mark();
    last.dependencies.image_mark = names_.dependencies().image_mark;
  } else {
    last.stack.forget();
  }
}

bool Sampler::look(Sample& result, Engine engine, WindowsThread& thread,
                   const DumpRequest& request, Last* last) {
  begin_look();
  Look how{.thread = &thread.thread(), .generation = images_.generation()};
  if (last != nullptr) drop_stale(*last);
  RawSample raw(buffers_.stack(), buffers_.entries());
  if (!capture_into(result.thread, raw, engine, thread, request, last ? &last->stack : nullptr)) {
    return false;
  }
  how.asked = !raw.at_risk;
  finish_look(result, raw, how, last);
  result.again.two_moments = raw.in_dispatch;
  return true;
}

std::optional<std::uint64_t> Sampler::sample_group(std::span<GroupThread> threads, Engine engine,
                                                   std::span<std::byte> arena) {
  begin_look();
  Look how{.generation = images_.generation()};
  GroupFreeze& group = supervisor_.group();
  group.clear();
  group_.assign(threads.size(), {});
  for (std::size_t i = 0; i < threads.size(); ++i) {
    GroupThread& of = threads[i];
    if (!group.add(*of.thread)) throw std::length_error("a group of too many threads");
    of.sample = {.thread = {.os_id = of.os_id}};
    if (of.last != nullptr) {
      drop_stale(*of.last);
      group_[i].last = &of.last->stack;
    }
    const ThreadClaim claim(services_.registry, of.os_id);
    if (!claim.entry()) continue;
    of.sample.thread.clr_id = claim.entry()->clr_id;
    of.sample.thread.name = claim.entry()->name;
  }
  std::uint64_t frozen_ns = 0;
  {
    const FreezeGate::Pass pass(services_.gate);
    if (!pass) return std::nullopt;
    const PlainMemory stack;
    frozen_ns = capture_group(group, group_, arena.empty() ? buffers_.stack() : arena, stack);
  }
  for (std::size_t i = 0; i < threads.size(); ++i) {
    RawSample& raw = group_[i].sample;
    Thread& thread = threads[i].sample.thread;
    thread.frozen_ns = raw.frozen_ns;
    thread.stopping_ns = raw.stopping_ns;
    thread.overdue = raw.overdue;
    thread.copy_cut = raw.stack.cut();
    how.thread = threads[i].thread;
    how.asked = engine == Engine::copy || thread.clr_id == 0;
    finish_look(threads[i].sample, raw, how, threads[i].last);
  }
  return frozen_ns;
}

void Sampler::finish_look(Sample& result, RawSample& raw, const Look& look, Last* last) {
  result.fault = raw.fault;
  result.thread.skipped = kSkippedInside.of(raw.fault);
  // Folklore: a system that refuses the registers of a thread was taken for a thread that is ending. Situation: other
  // software has patched NtGetContextThread, and refuses the call. Real case: fixtures/native/patched_calls.cpp; no
  // product was tried. A recording ended without a sample, and with the exit code 0. Remedy: the system is asked once
  // more, while the thread runs. Tests: PatchedCalls.*Refuse*.
  if (raw.fault == CaptureFault::not_suspended) result.refusal = look.thread->refusal();
  if (result.refusal != 0) {
    result.thread.skipped = "the system refused its registers (error " + std::to_string(result.refusal) + ")";
  }
  result.unmoved = raw.unmoved;
  LookReasons& again = result.again;
  again = {.no_stack = can_be_copied_later(raw.fault, last != nullptr), .overdue = result.thread.overdue};
  if (!result.thread.skipped.empty() || raw.unmoved) return;
  if (last != nullptr) last->stack.keep(raw);
  raw.stack.rewrite_pointers();
  names_.begin_stack();
  result.thread.stack = walk_copy(raw);
  bool holds = finish(result.thread.stack);
  const StackDependencies& dependencies = names_.dependencies();
  // The mark is taken after the last name has been looked up, so that all names are of the same moment.
  const UnloadGate::Mark now = services_.unload_gate.mark();
  if (holds && !names_.still_hold(dependencies, now)) {
    holds = false;
    if (!images_.still_loaded(dependencies.images, dependencies.image_mark)) images_.read();
  }
  if (holds && !images_.have_changed_for(result.thread.stack)) {
    // An image may have been loaded and unloaded since the images were listed, so that no frame names it.
    const bool unloaded = now != dependencies.mark || images_.unloads().mark() != dependencies.image_mark;
    again.gap_may_be_unloaded_code = unloaded && lacks_code(result.thread.stack);
    again.lacks_runtime = !look.asked && !result.thread.stack.whole();
    if (last == nullptr) return;
    last->dependencies = dependencies;
    last->generation = look.generation;
    // No callback reports that a dynamic method was replaced by another one.
    const bool unreported = !clr_.reports_method_unloads && !dependencies.managed.functions.empty();
    // The next sample cannot reuse the stack of a thread that will be frozen once more.
    if (unreported || again.after_group()) last->stack.forget();
    return;
  }
  if (last != nullptr) last->stack.forget();
  result.thread.stack = {};
  result.thread.skipped = "code on its stack went away while it was looked at";
  again.no_stack = true;
}

std::optional<Stack> Sampler::finish_event(EventSample& event) {
  read_unloads();
  names_.begin(event.mark, images_.unloads().mark());
  const auto is_listed = [&](const auto& image) { return images_.index_of(image) != Frame::kNone; };
  if (!std::ranges::all_of(event.images, is_listed)) {
    images_.read();
    if (!std::ranges::all_of(event.images, is_listed)) return std::nullopt;
  }
  for (Frame& frame : event.stack.frames) {
    if (frame.module == Frame::kNone) continue;
    frame.module = images_.index_of(event.images[static_cast<std::size_t>(frame.module)]);
  }
  if (!finish(event.stack)) return std::nullopt;
  // The event's thread walked its own stack, and looked up the names of its dynamic methods while these methods were on
  // the stack. So the addresses and the names stay right even if such a method has been unloaded since.
  Footprint& managed = names_.dependencies().managed;
  managed.code.clear();
  if (services_.unload_gate.hits(managed, event.mark)) return std::nullopt;
  return std::move(event.stack);
}

std::optional<Stack> Sampler::finish_image_load(const ImageLoad& load,
                                                std::span<const std::byte> bytes) {
  const HeldStack held(load.registers.rsp(), bytes);
  // The stack is walked again with a new list of images if the first walk met code of an image that was not listed.
  constexpr int kWalks = 3;
  for (int i = 0; i < kWalks; ++i) {
    read_unloads();
    names_.begin(load.mark, load.image_mark);
    RawSample raw(buffers_.stack(), buffers_.entries());
    raw.fault = load.stack_end == 0 ? CaptureFault::off_stack : CaptureFault::none;
    raw.context = load.registers;
    raw.stack.fill(held, load.registers.rsp(), load.stack_end);
    raw.stack.rewrite_pointers();
    Stack stack = walk_copy(raw);
    drop_own_frames(stack, images_.view());
    if (!finish(stack) || !names_.still_hold(names_.dependencies(), services_.unload_gate.mark())) return std::nullopt;
    if (!images_.have_changed_for(stack)) return stack;
  }
  return std::nullopt;
}

// Forgets what is known of code that has been unloaded.
void Sampler::read_unloads() {
  if (names_.read_unloads()) outside_.forget();
}

bool Sampler::capture_into(Thread& result, RawSample& sample, Engine engine, WindowsThread& thread,
                           const DumpRequest& request, const UnmovedStack* last) {
  const ThreadClaim claim(services_.registry, result.os_id);
  if (claim.entry()) {
    result.clr_id = claim.entry()->clr_id;
    result.name = claim.entry()->name;
  }
  const bool wants_walk = engine != Engine::copy && result.clr_id != 0;
  result.walk_off = wants_walk && !services_.breaker.allows(result.os_id, GetTickCount64());
  const bool walked = wants_walk && !result.walk_off;
  // The claim is taken before the freeze, and only if the runtime may be asked, since it costs a system call or two.
  std::optional<Canaries::Claimed> canary;
  const bool probes = engine == Engine::snapshot && request.probe != ProbePolicy::never;
  if (walked && probes) canary.emplace(canaries_, result.os_id);
  const FreezeGate::Pass pass(services_.gate);
  if (!pass) return false;
  const GuardedReader own_memory;
  const OpenPages images(images_.view(), own_memory);
  const PlainMemory stack;
  const CaptureView view{.modules = images_.view(),
                         .code = images,
                         .stack = stack,
                         .managed = walked ? &walk_ : nullptr,
                         .policy = engine == Engine::automatic ? ProbePolicy::risk : request.probe,
                         .probe = &probe_,
                         .last = last,
                         .ask_at_risk = engine != Engine::automatic};
  capture(thread, result.clr_id, view, sample);
  result.frozen_ns = sample.frozen_ns;
  result.stopping_ns = sample.stopping_ns;
  result.probe = sample.probe;
  result.at_risk = sample.at_risk;
  result.overdue = sample.overdue;
  result.copy_cut = sample.stack.cut();
  // If even the copy was not made in time, DoStackSnapshot was not called.
  if (sample.overdue && walked && sample.fault != CaptureFault::overdue) {
    services_.breaker.overdue(result.os_id, GetTickCount64());
  }
  return true;
}

Stack Sampler::walk_copy(const RawSample& sample) {
  // Many stacks are made after a single check for unloaded code (sample_group).
  if (services_.unload_gate.mark() != names_.mark()) outside_.forget();
  outside_.begin_stack(GetTickCount64());
  RtlUnwindStep step(sample.stack, images_.view(), {&hints_, &outside_});
  const GuessView guess{images_.view(), step.code(), sample.stack, step.leaf(), buffers_.guess()};
  Stack stack = merge(sample, {.step = step,
                               .managed = names_.code(),
                               .modules = images_.view(),
                               .scratch = buffers_.frames(),
                               .guess = &guess});
  note_callees(stack, sample.stack, step.code());
  name_runtime_code(stack, images_.view(), step.code());
  return stack;
}

// Returns false if code was unloaded meanwhile.
bool Sampler::finish(Stack& stack) {
  if (!names_.finish(stack)) return false;
  if (!clr_.reports_method_unloads) return true;
  for (const Frame& frame : stack.frames) {
    // The answer is kept as long as none of this code is unloaded (read_unloads()).
    if (frame.module == Frame::kNone && frame.function != 0) outside_.keep(frame.address);
  }
  return true;
}

}  // namespace mixwalk
