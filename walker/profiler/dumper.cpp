#include "walker/profiler/dumper.h"

#include "unmanaged/win/guarded.h"
#include "unmanaged/win/live_modules.h"
#include "unmanaged/win/rtl_unwind_step.h"
#include "walker/profiler/thread_list.h"
#include "walker/suspended/capture.h"

namespace mixwalk {

Dumper::Dumper(ClrInterfaces& clr, const House& house, Supervisor& supervisor,
               const SampleBuffers& buffers)
    : clr_(clr),
      house_(house),
      supervisor_(supervisor),
      buffers_(buffers),
      walk_(*clr.info, clr.info8.get(), supervisor),
      probe_(*clr.info, clr.info4.get()),
      canaries_(house.registry, house.gate, probe_),
      code_(*clr.info, clr.info8.get()),
      names_(clr.info.get(), clr.info8.get()) {}

bool Dumper::dump(const DumpRequest& request, const Sink& sink) {
  walk_.warm_up(clr_.info4.get());
  modules_ = read_live_modules();
  view_ = modules_.view();
  if (!send_new_modules(sink)) return false;
  if (request.engine == Engine::snapshot && request.probe != ProbePolicy::never &&
      probe_.start()) {
    canaries_.choose(request.canary_prefix);
  }

  for (const std::uint32_t os_id :
       request.thread_ids.empty() ? list_threads() : request.thread_ids) {
    if (!is_own_thread(os_id) && !send_thread(os_id, request, sink)) return false;
  }
  return sink(DumpDone{house_.breaker.state(GetTickCount64())});
}

bool Dumper::is_own_thread(DWORD id) const noexcept {
  return id == GetCurrentThreadId() || id == supervisor_.thread_id() || probe_.is_own_thread(id);
}

bool Dumper::capture_into(Thread& result, RawSample& sample, WindowsThread& thread,
                          const DumpRequest& request) {
  const ThreadClaim claim(house_.registry, result.os_id);
  if (claim.entry()) {
    result.clr_id = claim.entry()->clr_id;
    if (!claim.entry()->name.empty()) result.name = claim.entry()->name;
  }
  Canaries::Turn canary(canaries_, result.os_id);
  const FreezeGate::Pass pass(house_.gate);
  if (!pass) return false;
  const GuardedReader memory;
  CaptureView view{.modules = view_, .code = memory, .stack = memory};
  if (request.engine == Engine::snapshot && result.clr_id != 0) {
    result.walk_off = !house_.breaker.allows(result.os_id, GetTickCount64());
    if (!result.walk_off) view.managed = &walk_;
    view.policy = request.probe;
    view.probe = &probe_;
  }
  capture(thread, result.clr_id, view, sample);
  result.frozen_ns = sample.frozen_ns;
  result.probe = sample.probe;
  result.overdue = sample.overdue;
  result.copy_cut = sample.stack.cut();
  if (sample.overdue && view.managed != nullptr) house_.breaker.overdue(result.os_id, GetTickCount64());
  return true;
}

bool Dumper::send_thread(std::uint32_t os_id, const DumpRequest& request, const Sink& sink) {
  Thread result{.os_id = os_id};
  WindowsThread thread(supervisor_);
  if (!thread.open(os_id)) {
    result.skipped = "the thread has ended, or may not be opened";
    return sink(std::move(result));
  }
  result.name = thread_description(thread.handle());

  const UnloadGate::Sample unload(house_.unload_gate);
  RawSample sample(buffers_.stack(), buffers_.entries());
  if (!capture_into(result, sample, thread, request)) return false;
  switch (sample.fault) {
    case CaptureFault::none: break;
    case CaptureFault::not_suspended:
      result.skipped = "the thread is ending";
      return sink(std::move(result));
    case CaptureFault::off_stack:
      result.skipped = "the thread does not stand on its own stack";
      return sink(std::move(result));
    case CaptureFault::overdue:
      result.skipped = "the thread ran again before its stack was copied";
      return sink(std::move(result));
  }
  sample.stack.rewrite_pointers();
  const bool again = request.both_engines && sample.managed_walked;
  Thread copied = again ? result : Thread{};
  result.stack = merge_sample(sample);
  if (!send_stack(std::move(result), sink)) return false;
  if (!again) return true;
  sample.managed_walked = false;
  copied.stack = merge_sample(sample);
  return send_stack(std::move(copied), sink);
}

Stack Dumper::merge_sample(const RawSample& sample) {
  const auto merged = [&] {
    RtlUnwindStep step(sample.stack, view_);
    return merge(sample, {step, code_, view_, buffers_.frames()});
  };
  Stack stack = merged();
  if (has_unknown_code(stack)) {
    // An image may have been loaded since the list was made. The copy is still there: once more.
    modules_ = read_live_modules();
    view_ = modules_.view();
    stack = merged();
  }
  return stack;
}

bool Dumper::send_stack(Thread thread, const Sink& sink) {
  if (!send_new_modules(sink)) return false;
  renumber_modules(thread.stack);
  return send_new_functions(thread.stack, sink) && sink(std::move(thread));
}

bool Dumper::has_unknown_code(const Stack& stack) const {
  for (const Frame& frame : stack.frames) {
    if (frame.kind == FrameKind::stub && frame.module == Frame::kNone && frame.function == 0) {
      return true;
    }
  }
  return false;
}

bool Dumper::send_new_modules(const Sink& sink) {
  const auto spans = view_.modules();
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const auto number = static_cast<std::int32_t>(module_numbers_.size());
    if (!module_numbers_.try_emplace(spans[i].base, number).second) continue;
    const ModuleDetails& details = modules_.details()[i];
    if (!sink(Module{spans[i].base, spans[i].size, details.timestamp, details.path})) return false;
  }
  return true;
}

// A module's number on the pipe is that of its first appearance; in the view it is its place.
void Dumper::renumber_modules(Stack& stack) const {
  for (Frame& frame : stack.frames) {
    if (frame.module == Frame::kNone) continue;
    frame.module = module_numbers_.at(view_.modules()[static_cast<std::size_t>(frame.module)].base);
  }
}

bool Dumper::send_new_functions(const Stack& stack, const Sink& sink) {
  for (const Frame& frame : stack.frames) {
    if (frame.function == 0 || !sent_functions_.insert(frame.function).second) continue;
    if (!sink(FunctionName{frame.function, names_.name(frame.function).text})) return false;
  }
  return true;
}

}  // namespace mixwalk
