#include "walker/outside/managed_exception.h"

#include <algorithm>

#include "walker/model/crash_words.h"
#include "walker/outside/exception_objects.h"

namespace mixwalk {
namespace {

// Null if the snapshot does not have it.
const Thread* crashed_thread(const Snapshot& snapshot) {
  const auto thread = std::ranges::find(snapshot.threads, snapshot.crash->thread, &Thread::os_id);
  return thread != snapshot.threads.end() ? &*thread : nullptr;
}

// Whether the runtime has ended the program because of a managed exception, or for managed code.
bool is_managed(std::uint32_t code) {
  return code == exception_code::kManaged || code == exception_code::kExecutionEngine ||
         code == exception_code::kManagedFailFast;
}

// The Rsp of the frame that raised the exception; 0 if there is none.
std::uint64_t raised_rsp(const Snapshot& snapshot) {
  const Thread* const thread = crashed_thread(snapshot);
  if (thread == nullptr) return 0;
  const auto frame = std::ranges::find(thread->stack.frames, snapshot.crash->address, &Frame::address);
  return frame != thread->stack.frames.end() && frame->kind == FrameKind::managed ? frame->stack_pointer : 0;
}

// The message of Environment.FailFast: the text to which the frames of that method, and the arguments in their caller's
// frame, lead. The runtime keeps it nowhere else. In .NET 8 the method is a function of coreclr.dll.
std::string fail_fast_text(const Snapshot& snapshot, ExceptionObjects& exceptions) {
  const Thread* const thread = crashed_thread(snapshot);
  if (thread == nullptr) return {};
  const std::vector<StackFrame>& frames = thread->stack.frames;
  const auto fails_fast = [](const Frame& frame) {
    return frame.kind == FrameKind::managed && frame.name.starts_with("System.Environment.FailFast(");
  };
  auto first = std::ranges::find_if(frames, fails_fast);
  auto caller = std::find_if_not(first, frames.end(), fails_fast);
  if (first == frames.end()) {
    caller = std::ranges::find(frames, FrameKind::managed, &Frame::kind);
    if (caller == frames.begin()) return {};
    first = caller - 1;
    if (first->kind != FrameKind::native) return {};
  }
  if (caller == frames.end() || caller->stack_pointer < first->stack_pointer) return {};
  constexpr std::uint64_t kHomeBytes = 32;  // a callee may keep its first four arguments there (x64 calling convention)
  return exceptions.only_text(first->stack_pointer, caller->stack_pointer + kHomeBytes);
}

}  // namespace

void add_managed_exceptions(Snapshot& snapshot, const MemoryReader& memory, ClrQuestions& clr) {
  if (!snapshot.crash || snapshot.runtime.name != ".NET") return;
  Crash& crash = *snapshot.crash;
  // After another crash, the exception that the thread threw last has mostly nothing to do with it: only if the runtime
  // made it of this very fault, such as a NullReferenceException.
  const std::uint64_t raised = is_managed(crash.code) ? 0 : raised_rsp(snapshot);
  if (!is_managed(crash.code) && raised == 0) return;
  ExceptionObjects exceptions(memory, clr, snapshot.runtime);
  if (crash.code == exception_code::kManagedFailFast) crash.text = fail_fast_text(snapshot, exceptions);
  for (const ClrThread& thread : clr.threads()) {
    if (thread.os_id != crash.thread || thread.thrown == 0) continue;
    const std::uint64_t object = memory.read_value<std::uint64_t>(thread.thrown).value_or(0);
    if (raised != 0 && !exceptions.began_at(object, crash.address, raised)) return;
    crash.objects = exceptions.from(object);
    // The runtime itself puts this object in place of one of the program, which becomes its inner exception.
    const bool stand_in = crash.code != exception_code::kManaged && !crash.objects.empty() &&
                          crash.objects.front().type == "System.ExecutionEngineException";
    if (stand_in) crash.objects.erase(crash.objects.begin());
    return;
  }
}

}  // namespace mixwalk
