#include "walker/locks/thread_traits.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "unmanaged/ascii_lower.h"
#include "walker/hang/message_loops.h"

namespace mixwalk {
namespace {

// The runtime begins with two threads: the one that has started it, and the finalizer, which is in the background.
constexpr std::uint32_t kFirstThreads = 2;

constexpr std::string_view kContexts[] = {"System.Windows.Forms.WindowsFormsSynchronizationContext",
                                          "System.Windows.Threading.DispatcherSynchronizationContext"};
// Functions of user32.dll in which a loop without .NET is, or which it has called.
constexpr std::string_view kMessages[] = {"GetMessageW", "GetMessageA", "DispatchMessageW", "DispatchMessageA"};

// Returns nothing if the snapshot leaves that thread out.
const Thread* first_of(const Snapshot& snapshot, const std::map<std::uint32_t, const ClrThread*>& known,
                       std::span<const TargetThread> all) {
  const auto earliest = std::ranges::min_element(all, {}, &TargetThread::created);
  if (earliest != all.end() && earliest->created != 0) {
    const auto found = std::ranges::find(snapshot.threads, earliest->os_id, &Thread::os_id);
    return found == snapshot.threads.end() ? nullptr : &*found;
  }
  for (const Thread& thread : snapshot.threads) {
    const auto found = known.find(thread.os_id);
    if (found == known.end() || found->second->managed_id > kFirstThreads) continue;
    if (found->second->state != 0 && (found->second->state & ClrThread::kBackground) == 0) return &thread;
  }
  return nullptr;
}

bool is_in_loop(const Snapshot& snapshot, const Thread& thread, bool first) {
  return std::ranges::any_of(thread.stack.frames, [&](const StackFrame& frame) {
    if (frame.kind == FrameKind::managed) return runs_message_loop(frame.name);
    const auto begins = [&](std::string_view name) { return frame.name.starts_with(name); };
    // Other threads may have a window of their own for messages between threads, as COM's threads do.
    const bool native = frame.kind == FrameKind::native && frame.module != Frame::kNone && !is_guess(frame.trust);
    if (!first || !native || !std::ranges::any_of(kMessages, begins)) return false;
    const Module& module = snapshot.modules[static_cast<std::size_t>(frame.module)];
    return ascii_lower(module_name(module)) == "user32.dll";
  });
}

}  // namespace

void add_thread_traits(Snapshot& snapshot, std::span<const ClrThread> threads, std::span<const TargetThread> all) {
  std::map<std::uint32_t, const ClrThread*> known;
  for (const ClrThread& thread : threads) {
    if (thread.os_id != 0) known.emplace(thread.os_id, &thread);
  }
  const Thread* const first = first_of(snapshot, known, all);
  for (Thread& thread : snapshot.threads) {
    ThreadTraits& traits = thread.traits;
    traits.main = &thread == first;
    traits.pumps = is_in_loop(snapshot, thread, traits.main);
    if (const auto found = known.find(thread.os_id); found != known.end()) {
      const std::uint32_t state = found->second->state;
      traits.pool = (state & ClrThread::kPoolWorker) != 0;
      traits.sta = (state & ClrThread::kSta) != 0;
      traits.mta = (state & ClrThread::kMta) != 0;
    }
    for (const AsyncContext& context : snapshot.contexts) {
      const bool serves = context.thread != 0 && context.thread == thread.os_id;
      if (serves && std::ranges::find(kContexts, context.type) != std::end(kContexts)) traits.pumps = true;
    }
  }
}

}  // namespace mixwalk
