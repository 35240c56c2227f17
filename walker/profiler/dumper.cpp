#include "walker/profiler/dumper.h"

#include "unmanaged/win/guarded.h"
#include "unmanaged/win/live_modules.h"
#include "unmanaged/win/rtl_unwind_step.h"
#include "walker/profiler/thread_list.h"
#include "walker/suspended/capture.h"

namespace mixwalk {

Dumper::Dumper(ClrInterfaces& clr, ThreadRegistry& registry, FreezeGate& gate,
               Supervisor& supervisor, const SampleBuffers& buffers)
    : clr_(clr),
      registry_(registry),
      gate_(gate),
      supervisor_(supervisor),
      buffers_(buffers),
      walk_(*clr.info, clr.info8.get(), supervisor),
      code_(*clr.info, clr.info8.get()),
      names_(clr.info.get(), clr.info8.get()) {}

bool Dumper::dump(const DumpRequest& request, const Sink& sink) {
  walk_.warm_up(clr_.info4.get());
  modules_ = read_live_modules();
  view_ = modules_.view();
  if (!send_new_modules(sink)) return false;

  const DWORD self = GetCurrentThreadId();
  for (const std::uint32_t os_id :
       request.thread_ids.empty() ? list_threads() : request.thread_ids) {
    if (os_id == self || os_id == supervisor_.thread_id()) continue;
    if (!send_thread(os_id, request, sink)) return false;
  }
  return sink(DumpDone{});
}

bool Dumper::send_thread(std::uint32_t os_id, const DumpRequest& request, const Sink& sink) {
  Thread result{.os_id = os_id};
  WindowsThread thread(supervisor_);
  if (!thread.open(os_id)) {
    result.skipped = "the thread has ended, or may not be opened";
    return sink(std::move(result));
  }
  result.name = thread_description(thread.handle());

  RawSample sample(buffers_.stack(), buffers_.entries());
  {
    const ThreadClaim claim(registry_, os_id);
    if (claim.entry()) {
      result.clr_id = claim.entry()->clr_id;
      if (!claim.entry()->name.empty()) result.name = claim.entry()->name;
    }
    const FreezeGate::Pass pass(gate_);
    if (!pass) return false;
    const GuardedReader code;
    const CaptureView view{view_, code, request.engine == Engine::snapshot ? &walk_ : nullptr};
    capture(thread, result.clr_id, view, sample);
  }
  result.frozen_ns = sample.frozen_ns;
  switch (sample.fault) {
    case CaptureFault::none: break;
    case CaptureFault::not_suspended:
      result.skipped = "the thread is ending";
      return sink(std::move(result));
    case CaptureFault::off_stack:
      result.skipped = "the thread does not stand on its own stack";
      return sink(std::move(result));
  }
  result.copy_cut = sample.stack.cut();
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
