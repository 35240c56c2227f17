#include "walker/profiler/sampler.h"

#include <algorithm>

#include "unmanaged/win/guarded.h"
#include "unmanaged/win/live_modules.h"
#include "unmanaged/win/rtl_unwind_step.h"
#include "walker/suspended/capture.h"

namespace mixwalk {
namespace {

// How long code that was in no image when it was first seen is taken to be in none.
constexpr ULONGLONG kUnknownCodeMs = 1000;
constexpr std::size_t kMaxUnknownCode = 4096;

// Code of the runtime's that has no FunctionID, or of an image that was loaded since.
bool is_unknown_code(const Frame& frame) {
  return frame.kind == FrameKind::stub && frame.module == Frame::kNone && frame.function == 0;
}

// The frames of this DLL at the leaf: a callback walks its own thread.
void drop_own_frames(Stack& stack, const ModuleView& modules) {
  const auto own = reinterpret_cast<std::uint64_t>(&drop_own_frames);
  const auto other = std::ranges::find_if(stack.frames, [&](const Frame& frame) {
    return frame.module == Frame::kNone ||
           !modules.modules()[static_cast<std::size_t>(frame.module)].contains(own);
  });
  const auto dropped = static_cast<std::uint32_t>(other - stack.frames.begin());
  if (dropped == 0) return;
  stack.frames.erase(stack.frames.begin(), other);
  stack.runs.front().frame_count -= dropped;
  for (Run& run : stack.runs) run.first_frame -= &run == &stack.runs.front() ? 0 : dropped;
}

std::string_view why_skipped(CaptureFault fault) {
  switch (fault) {
    case CaptureFault::none: return {};
    case CaptureFault::not_suspended: return "the thread is ending";
    case CaptureFault::off_stack: return "the thread does not stand on its own stack";
    case CaptureFault::overdue: return "the thread ran again before its stack was copied";
  }
  return {};
}

}  // namespace

Sampler::Sampler(ClrInterfaces& clr, const House& house, Supervisor& supervisor,
                 const SampleBuffers& buffers)
    : clr_(clr),
      house_(house),
      supervisor_(supervisor),
      buffers_(buffers),
      walk_(*clr.info, clr.info8.get(), supervisor),
      probe_(*clr.info, clr.info4.get()),
      canaries_(house.registry, house.gate, probe_) {
  forget_names();
}

void Sampler::forget_names() {
  ++generation_;
  unloads_ = house_.unload_gate.unloads();
  code_.emplace(*clr_.info, clr_.info8.get());
  names_.emplace(clr_.info.get(), clr_.info8.get());
}

void Sampler::begin(const DumpRequest& request) {
  walk_.warm_up(clr_.info4.get());
  read_modules();
  if (request.engine == Engine::snapshot && request.probe != ProbePolicy::never &&
      probe_.start()) {
    canaries_.choose(request.canary_prefix);
  }
}

bool Sampler::is_own_thread(DWORD id) const noexcept {
  return id == GetCurrentThreadId() || id == supervisor_.thread_id() || probe_.is_own_thread(id);
}

std::optional<Sampler::Sample> Sampler::sample(WindowsThread& thread, std::uint32_t os_id,
                                               const DumpRequest& request, Last* last) {
  Sample result{.thread = {.os_id = os_id}, .copied = {}};
  const UnloadGate::Sample unload(house_.unload_gate);
  if (unloads_ != house_.unload_gate.unloads()) forget_names();
  if (last != nullptr && last->names != generation_) last->stand.forget();
  RawSample raw(buffers_.stack(), buffers_.entries());
  if (!capture_into(result.thread, raw, thread, request, last ? &last->stand : nullptr)) {
    return std::nullopt;
  }
  result.thread.skipped = why_skipped(raw.fault);
  result.unmoved = raw.unmoved;
  if (raw.fault != CaptureFault::none || raw.unmoved) return result;
  if (last != nullptr) {
    last->stand.keep(raw);
    last->names = generation_;
  }
  raw.stack.rewrite_pointers();
  if (request.both_engines && raw.managed_walked) result.copied = result.thread;
  result.thread.stack = merge_sample(raw);
  finish(result.thread.stack);
  if (result.copied) {
    raw.managed_walked = false;
    result.copied->stack = merge_sample(raw);
    finish(result.copied->stack);
  }
  return result;
}

std::optional<Stack> Sampler::merge_event(EventSample& event) {
  const UnloadGate::Sample unload(house_.unload_gate);
  const std::uint64_t unloads = house_.unload_gate.unloads();
  if (unloads_ != unloads) forget_names();
  if (event.unloads != unloads) return std::nullopt;
  if (event.raw.fault != CaptureFault::none) return Stack{};
  event.raw.stack.rewrite_pointers();
  Stack stack = merge_sample(event.raw);
  drop_own_frames(stack, view_);
  finish(stack);
  return stack;
}

bool Sampler::capture_into(Thread& result, RawSample& sample, WindowsThread& thread,
                           const DumpRequest& request, const LastStand* last) {
  const ThreadClaim claim(house_.registry, result.os_id);
  if (claim.entry()) {
    result.clr_id = claim.entry()->clr_id;
    result.name = claim.entry()->name;
  }
  const bool wants_walk = request.engine == Engine::snapshot && result.clr_id != 0;
  result.walk_off = wants_walk && !house_.breaker.allows(result.os_id, GetTickCount64());
  const bool walked = wants_walk && !result.walk_off;
  // Before the freeze, and only where the runtime may be asked: a claim, and a system call or two.
  std::optional<Canaries::Turn> canary;
  if (walked && request.probe != ProbePolicy::never) canary.emplace(canaries_, result.os_id);
  const FreezeGate::Pass pass(house_.gate);
  if (!pass) return false;
  const GuardedReader memory;
  const CaptureView view{.modules = view_,
                         .code = memory,
                         .stack = memory,
                         .managed = walked ? &walk_ : nullptr,
                         .policy = request.probe,
                         .probe = &probe_,
                         .last = last};
  capture(thread, result.clr_id, view, sample);
  result.frozen_ns = sample.frozen_ns;
  result.probe = sample.probe;
  result.overdue = sample.overdue;
  result.copy_cut = sample.stack.cut();
  if (sample.overdue && walked) {
    house_.breaker.overdue(result.os_id, GetTickCount64());
  }
  return true;
}

Stack Sampler::merge_sample(const RawSample& sample) {
  const auto merged = [&] {
    RtlUnwindStep step(sample.stack, view_);
    return merge(sample, {step, *code_, view_, buffers_.frames()});
  };
  Stack stack = merged();
  if (may_be_of_new_image(stack)) {
    // An image may have been loaded since the list was made. The copy is still there: once more.
    read_modules();
    stack = merged();
  }
  return stack;
}

// To list the images takes longer than all the rest of a sample, and thunks of the runtime stay
// unknown: each address is looked for at once, and then once in a while.
bool Sampler::may_be_of_new_image(const Stack& stack) {
  bool any = false, fresh = false;
  if (unknown_code_.size() > kMaxUnknownCode) unknown_code_.clear();
  for (const Frame& frame : stack.frames) {
    if (!is_unknown_code(frame)) continue;
    any = true;
    fresh = unknown_code_.insert(frame.address).second || fresh;
  }
  return fresh || (any && GetTickCount64() - modules_read_ms_ >= kUnknownCodeMs);
}

// A module's number is that of its first appearance; in the view it is its place.
void Sampler::finish(Stack& stack) {
  for (Frame& frame : stack.frames) {
    if (frame.module != Frame::kNone) {
      frame.module = numbers_.at(view_.modules()[static_cast<std::size_t>(frame.module)].base);
    }
    if (frame.function != 0) frame.name = names_->name(frame.function).text;
  }
}

void Sampler::read_modules() {
  modules_read_ms_ = GetTickCount64();
  table_ = read_live_modules();
  view_ = table_.view();
  const auto spans = view_.modules();
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const ModuleDetails& details = table_.details()[i];
    Module module{spans[i].base, spans[i].size, details.timestamp, details.path};
    const auto known = numbers_.find(module.base);
    // Another image may stand where one was unloaded.
    if (known != numbers_.end() && all_modules_[static_cast<std::size_t>(known->second)] == module) {
      continue;
    }
    numbers_[module.base] = static_cast<std::int32_t>(all_modules_.size());
    all_modules_.push_back(std::move(module));
  }
}

}  // namespace mixwalk
