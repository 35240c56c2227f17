#include "walker/outside/handled_exceptions.h"

#include <algorithm>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "walker/model/runtime_images.h"
#include "walker/outside/exception_objects.h"

namespace mixwalk {
namespace {

// The most text of all exceptions together, in bytes, and the most exceptions that are read: forged memory may have very
// many.
constexpr std::size_t kMaxText = 16 << 20;
constexpr std::size_t kMaxExceptions = 1000;

using Found = ClrThreadExceptions::Exception;

std::size_t text_bytes(const HandledException& exception) {
  std::size_t bytes = 0;
  for (const CrashObject& object : exception.objects) {
    bytes += object.type.size() + object.message.size();
    for (const std::string& frame : object.trace) bytes += frame.size();
  }
  return bytes;
}

// Whether the stack shows that the runtime handled this exception when the thread was captured: the ExceptionInfo is in
// a frame of the runtime itself, which has called managed code. In .NET 9 that is the runtime's own managed code for
// exceptions, in .NET 10 mostly the handler at once. `runtime`: runtime_images().
bool is_in_stack(const Stack& stack, std::uint64_t tracker, const std::vector<bool>& runtime) {
  const std::vector<StackFrame>& frames = stack.frames;
  const auto is_behind = [&](const StackFrame& frame) { return frame.stack_pointer > tracker; };
  const auto behind = std::ranges::find_if(frames, is_behind);
  if (behind == frames.begin() || behind == frames.end()) return false;
  const StackFrame& around = *(behind - 1);
  return around.kind == FrameKind::native && around.module != Frame::kNone &&
         runtime[static_cast<std::size_t>(around.module)] &&
         std::any_of(frames.begin(), behind, [](const Frame& frame) { return frame.kind == FrameKind::managed; });
}

// Returns false if the target does not run.
bool runs(Target& target, ClrQuestions& clr) {
  if (!target.drop_memory()) return false;
  clr.target_ran();
  return true;
}

// An exception of a thread, with the objects that were read for it.
struct Read {
  Thread* thread = nullptr;
  Found exception;
  HandledException handled;
};

std::vector<Read> read_all(Snapshot& snapshot, std::span<const ClrThreadExceptions> found, ExceptionObjects& objects) {
  std::unordered_map<std::uint32_t, Thread*> threads;
  for (Thread& thread : snapshot.threads) threads.emplace(thread.os_id, &thread);
  std::vector<Read> all;
  std::size_t text = 0, exceptions = 0;
  for (const ClrThreadExceptions& from : found) {
    const auto thread = threads.find(from.os_id);
    if (thread == threads.end()) continue;
    std::set<std::uint64_t> seen;  // an exception that a handler throws again has two ExceptionInfos
    for (const Found& exception : from.exceptions) {
      if (text >= kMaxText || exceptions == kMaxExceptions) return all;
      if (!seen.insert(exception.object).second) continue;
      ++exceptions;
      HandledException handled{objects.from(exception.object)};
      const bool is_crash = snapshot.crash && snapshot.crash->thread == from.os_id &&
                            snapshot.crash->objects == handled.objects;
      if (handled.objects.empty() || is_crash) continue;
      text += text_bytes(handled);
      all.push_back({thread->second, exception, std::move(handled)});
    }
  }
  return all;
}

// Leaves only the exceptions that the second look has as well.
void keep_common(std::vector<Read>& all, std::span<const ClrThreadExceptions> second) {
  std::unordered_map<std::uint32_t, const std::vector<Found>*> by_thread;
  for (const ClrThreadExceptions& thread : second) by_thread.emplace(thread.os_id, &thread.exceptions);
  std::erase_if(all, [&](const Read& one) {
    const auto known = by_thread.find(one.thread->os_id);
    return known == by_thread.end() || std::ranges::find(*known->second, one.exception) == known->second->end();
  });
}

}  // namespace

void add_handled_exceptions(Snapshot& snapshot, Target& target, ClrQuestions& clr) {
  if (snapshot.runtime.name != ".NET") return;
  const std::vector<ClrThreadExceptions> found = clr.handled_exceptions();
  if (found.empty()) return;
  ExceptionObjects objects(target.memory(), clr, snapshot.runtime);
  std::vector<Read> all = read_all(snapshot, found, objects);
  if (runs(target, clr)) {
    // The objects were read between the two looks: a collection that moves an object changes its address.
    keep_common(all, clr.handled_exceptions());
    const std::vector<bool> runtime = runtime_images(snapshot);
    std::erase_if(all, [&](const Read& one) {
      return !is_in_stack(one.thread->stack, one.exception.tracker, runtime);
    });
  }
  for (Thread& thread : snapshot.threads) thread.handles.clear();
  for (Read& one : all) one.thread->handles.push_back(std::move(one.handled));
}

}  // namespace mixwalk
