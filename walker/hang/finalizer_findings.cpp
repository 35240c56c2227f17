// Findings about the finalizer thread, which runs the handlers of ProcessExit as well.

#include <algorithm>
#include <string_view>
#include <utility>

#include "walker/hang/finding_texts.h"
#include "walker/hang/finding_words.h"
#include "walker/hang/frame_names.h"
#include "walker/hang/process_findings.h"
#include "walker/hang/waits.h"

namespace mixwalk {
namespace {

// The thread that has called Environment.Exit; null if none is seen.
const Thread* thread_that_exits(const ProcessFindings& process) {
  const auto found = std::ranges::find_if(process.by_place, [&](std::uint32_t index) {
    return process.threads[index].last().wait.rule == "exit";
  });
  return found == process.by_place.end() ? nullptr : &process.thread(process.threads[*found]);
}

// The method of .NET or of the program that the runtime has called on this thread. Null if there is none.
const StackFrame* root_method(const Thread& thread) {
  const auto& frames = thread.stack.frames;
  const auto root = std::find_if(frames.rbegin(), frames.rend(),
                                 [](const Frame& frame) { return frame.kind == FrameKind::managed; });
  return root == frames.rend() ? nullptr : &*root;
}

// Whether the finalizer thread runs the handlers of ProcessExit. `root`: its root_method().
//
// Folklore: the runtime calls them there. The JIT makes a jump of the call of the last handler, or inlines it, so there
// may be no method of .NET on the stack; but a finalizer itself always is, because its calls are in a try block. Real
// case: a service that stored its work when it was stopped "hangs in a finalizer". Tests: hangs_without_locks_test
// (exit, exit-drains, exit-joins) and FindingsTest.*ProcessExit*.
bool runs_exit_handlers(const ProcessFindings& process, const FrameNames& names, const Thread& thread,
                        const StackFrame& root) {
  const auto& frames = thread.stack.frames;
  const bool in_finalizer = std::ranges::any_of(frames, [](const Frame& frame) {
    return frame.kind == FrameKind::managed &&
           (method_of(frame.name).ends_with(".Finalize") || frame.name.starts_with("System.GC.RunFinalizers("));
  });
  if (in_finalizer) return false;
  if (root.name.starts_with("System.AppContext.OnProcessExit(") || thread_that_exits(process) != nullptr) return true;
  // Code that COM has called, for example, is no handler.
  const auto caller = frames.begin() + (&root - frames.data()) + 1;
  return names.of_program(root) && caller != frames.end() && names.runtime(*caller);
}

// Adds to the finding that contains the thread.
void add_to_finding_of(ProcessFindings& process, std::uint32_t thread, const std::string& detail,
                       const std::vector<std::uint32_t>& behind) {
  for (Finding& found : process.findings) {
    const auto& parts = found.threads;
    if (std::ranges::none_of(parts, [&](const FindingThread& part) { return part.thread == thread; }) &&
        std::ranges::find(found.behind, thread) == found.behind.end()) {
      continue;
    }
    found.details.push_back(detail);
    found.behind.insert(found.behind.end(), behind.begin(), behind.end());
    std::ranges::sort(found.behind);
    process.covered.insert(behind.begin(), behind.end());
    return;
  }
}

// A handler may well wait until the program's work is done, so a wait for a signal proves nothing.
void exit_handlers(ProcessFindings& process, std::uint32_t index) {
  const ThreadHistory& history = process.threads[index];
  const Thread* const exits = thread_that_exits(process);
  if (process.covered.contains(index)) {
    add_to_finding_of(process, index, exit_detail(exits), {});
    return;
  }
  const bool hangs = process.several && history.verdict == Verdict::stuck;
  Finding out =
      process.finding(FindingKind::exit, hangs ? Severity::stuck : Severity::note, exit_text(hangs, exits));
  out.threads.push_back(process.part(index, state_words(history)));
  process.add(std::move(out));
}

// A finalizer that makes progress is late and not stuck. (find_locks() has settled the threads that wait for it.)
// `place`: what the thread is in.
void finalizers(ProcessFindings& process, std::uint32_t index, std::string_view place) {
  const ThreadHistory& history = process.threads[index];
  const bool sleeps = process.sleeps(history);
  const bool spins = history.verdict == Verdict::spinning;
  const bool idle = history.last().wait.state == WaitState::idle;
  const bool hangs = process.progress(index) == Progress::no && (spins || process.does_not_run(history)) && !idle;
  if (!hangs && !sleeps) return;
  std::vector<std::uint32_t> waiters;
  for (const std::uint32_t waiter : process.by_place) {
    const ThreadHistory& other = process.threads[waiter];
    if (process.does_not_run(other) && other.last().wait.rule == "finalizers-wait") waiters.push_back(waiter);
  }
  // If nobody waits for a finalizer that spins, the note about a thread that spins is enough.
  if (spins && waiters.empty()) return;
  if (process.covered.contains(index)) {
    std::erase_if(waiters, [&](std::uint32_t waiter) { return process.covered.contains(waiter); });
    if (waiters.empty()) return;
    add_to_finding_of(process, index, finalizer_detail(waiters.size()), waiters);
    return;
  }
  const std::string_view does = sleeps ? "sleeps" : spins ? "runs all the time" : "hangs";
  Finding out = process.finding(FindingKind::finalizer, process.several && !sleeps ? Severity::stuck : Severity::note,
                                finalizer_text(does, place, sleeps, history.last().wait));
  out.threads.push_back(process.part(index, state_words(history)));
  process.put_threads(out, waiters);
  process.add(std::move(out));
}

}  // namespace

void find_finalizer(ProcessFindings& process) {
  const FrameNames names(process.snapshot);
  for (const std::uint32_t index : process.by_place) {
    const Thread& thread = process.thread(process.threads[index]);
    if (!is_finalizer(thread)) continue;
    const StackFrame* const root = root_method(thread);
    if (root == nullptr) {
      // The runtime itself releases objects of COM.
      const bool releases = process.threads[index].last().wait.rule == "com-call";
      if (releases) finalizers(process, index, "the release of an object of COM");
    } else if (runs_exit_handlers(process, names, thread, *root)) {
      exit_handlers(process, index);
    } else {
      finalizers(process, index, "a finalizer");
    }
  }
}

}  // namespace mixwalk
