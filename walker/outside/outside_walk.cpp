#include "walker/outside/outside_walk.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "unmanaged/ascii_lower.h"
#include "unmanaged/image/debug_directory.h"
#include "unmanaged/image/exports_name.h"
#include "walker/base/steady_time.h"
#include "walker/base/utf8.h"
#include "walker/merge/guessing_step.h"
#include "walker/merge/merge.h"
#include "walker/merge/runtime_code.h"
#include "walker/merge/stub_callees.h"
#include "walker/model/skipped_words.h"
#include "walker/model/unloaded_name.h"
#include "walker/outside/target_step.h"
#include "walker/target/target_modules.h"

namespace mixwalk {
namespace {

// The largest stack that is copied whole, as in a live walk.
constexpr std::size_t kStackBytes = 12 << 20;
// The most bytes of the name of an image that was unloaded: each of its frames has a copy. The name of a file has at
// most 255 characters, but in a forged dump it can have 32,000.
constexpr std::size_t kMaxUnloadedName = 1024;
constexpr char kImageUnloaded[] = "code on its stack went away while it was looked at";
constexpr char kNothingLeft[] = "the stacks of other threads took all the time or room that there is";

// Returns a module of size 0 if the target has no ntdll.dll.
Module ntdll_of(const Target& target) {
  const auto ntdll = std::ranges::find_if(
      target.modules(), [](const Module& module) { return ascii_lower(module_name(module)) == "ntdll.dll"; });
  return ntdll != target.modules().end() ? *ntdll : Module{};
}

Dispatchers dispatchers_of(const Module& ntdll, const MemoryReader& memory) {
  const auto address_of = [&](std::string_view name) -> std::uint64_t {
    const auto rva = ntdll.size != 0 ? export_rva(memory, ntdll.base, name) : std::nullopt;
    return rva && *rva < ntdll.size ? ntdll.base + *rva : 0;
  };
  return {.exception = address_of("KiUserExceptionDispatcher"),
          .apc = address_of("KiUserApcDispatcher"),
          .callback = address_of("KiUserCallbackDispatcher")};
}

// After it was asked anew, this many times the time that it took passes before the next time.
constexpr int kAskingShare = 10;
constexpr std::size_t kMaxUnknownPlaces = 4096;

bool is_outside_images(const Frame& frame) {
  return frame.kind != FrameKind::gap && frame.module == Frame::kNone;
}

std::ptrdiff_t managed_frames(const Stack& stack) {
  return std::ranges::count(stack.frames, FrameKind::managed, &Frame::kind);
}

class Walk {
 public:
  // `end_ns`: of all walks.
  Walk(Target& target, const OutsideKnowledge& knowledge, std::chrono::milliseconds between_asking_anew,
       std::uint64_t end_ns)
      : target_(target),
        knowledge_(knowledge),
        between_asking_anew_(between_asking_anew),
        end_ns_(end_ns),
        table_(target_modules(target)),
        view_(table_.view()),
        unlisted_(target.memory()),
        ntdll_(ntdll_of(target)),
        tables_(target.memory(), ntdll_.base, ntdll_.size),
        code_{knowledge.jitted, target.runtime().name.empty() || knowledge.jitted != nullptr,
              dispatchers_of(ntdll_, target.memory()), 0, &target, &unlisted_, &tables_} {}

  // `so_far`: the snapshot with the threads that were walked before.
  Thread walk(const TargetThread& of, Snapshot& so_far) {
    Thread thread{.os_id = of.os_id, .name = of.name, .created = of.created, .cpu = of.cpu};
    RawSample sample({stack_.get(), kStackBytes}, {});
    target_.capture(of, sample);
    thread.skipped = kSkippedOutside.of(sample.fault);
    thread.frozen_ns = sample.frozen_ns;
    thread.stopping_ns = sample.stopping_ns;
    thread.copy_cut = sample.stack.cut();
    if (!thread.skipped.empty()) return thread;
    const Crash* const crash = target_.crash();
    const bool jumped_away = crash != nullptr && crash->thread == of.os_id && crash->access == CrashAccess::execute;
    code_.not_executed = jumped_away ? crash->touched : 0;
    thread.stack = walk(of.os_id, sample);
    if (has_new_place(thread.stack)) ask_anew(of.os_id, thread.stack, sample, so_far);
    if (!images_still_loaded(thread.stack)) {
      thread.stack = {};
      thread.skipped = kImageUnloaded;
    } else {
      so_far.calls += agreement_;
    }
    return thread;
  }

  std::vector<Module> modules() const {
    std::vector<Module> modules;
    for (std::size_t i = 0; i < view_.modules().size(); ++i) {
      const ModuleSpan& span = view_.modules()[i];
      const ModuleDetails& details = table_.details()[i];
      modules.push_back({span.base, span.size, details.timestamp, details.path});
    }
    return modules;
  }

 private:
  Stack walk(std::uint32_t os_id, const RawSample& sample) {
    const std::vector<RuntimeCall> calls =
        knowledge_.calls_of ? knowledge_.calls_of(os_id, sample.stack) : std::vector<RuntimeCall>();
    TargetStep step(view_, target_.memory(), sample.stack, target_.outside(), code_);
    const GuessView guess{view_, target_.memory(), sample.stack, step.leaf(), *guesses_};
    Stack stack = merge(sample, {.step = step,
                                 .managed = knowledge_.managed,
                                 .modules = view_,
                                 .scratch = {},  // only the runtime's own walk needs it
                                 .end_ns = end_ns_,
                                 .guess = &guess,
                                 .calls = calls});
    used_tables_ = step.used_tables();
    note_callees(stack, sample.stack, target_.memory());
    agreement_ = note_callees(stack, calls);
    name_unloaded(stack);
    if (!target_.runtime().name.empty()) name_runtime_code(stack, view_, target_.memory());
    return stack;
  }

  // Names code of images that were unloaded: "<unloaded gone.dll>+0x1234". The name has the place in the image, because
  // the image is not among the snapshot's.
  void name_unloaded(Stack& stack) const {
    for (StackFrame& frame : stack.frames) {
      if (frame.kind != FrameKind::native || frame.module != Frame::kNone) continue;
      const auto image = target_.unloaded_at(CodeAddress{frame.address, frame.address_kind}.lookup());
      if (!image) continue;
      const std::string_view file = file_name(image->path).substr(0, kMaxUnloadedName);
      frame.name = unloaded_name(valid_utf8(file), frame.address - image->base);
    }
  }

  // Folklore: a running process compiles a method after its runtime's tables were read, and a thread is captured in
  // that method later. For the library the code does not exist, so its callers were guessed. Real case: on a busy
  // machine a dump from outside takes seconds, and 2 of 73 stacks of torture.exe had such code; the library's answer
  // was E_INVALIDARG. The code's page may be new as well: what was known of the memory says that no return address can
  // point there. Real case: 5 stacks of 4,719 while torture.exe began. Remedy: the tables and the memory are read anew,
  // and the same copy is walked again. What stays unknown, such as the code of another compiler, is not asked for
  // twice. Tests: OutsideWalkTest.CodeThatWasCompiledMeanwhileIsAskedForAnew, .CodeInANewPageIsAskedForAnew.
  void ask_anew(std::uint32_t os_id, Stack& stack, const RawSample& sample, Snapshot& so_far) {
    const auto begun = std::chrono::steady_clock::now();
    if (!knowledge_.ask_anew || begun < ask_next_) return;
    if (!knowledge_.ask_anew(so_far)) {
      ask_next_ = std::chrono::steady_clock::time_point::max();
      return;
    }
    unlisted_.forget();
    tables_.forget();
    const CallAgreement agreement = agreement_;
    const bool used_tables = used_tables_;
    Stack again = walk(os_id, sample);
    // The code that the thread was in may have been freed meanwhile.
    if (again.whole() || (!stack.whole() && managed_frames(again) >= managed_frames(stack))) {
      stack = std::move(again);
    } else {
      agreement_ = agreement;
      used_tables_ = used_tables;
    }
    if (unknown_.size() > kMaxUnknownPlaces) unknown_.clear();
    for (const std::uint64_t place : unknown_places(stack, true)) unknown_.insert(place);
    const auto now = std::chrono::steady_clock::now();
    ask_next_ = now + std::max<std::chrono::steady_clock::duration>(between_asking_anew_, kAskingShare * (now - begun));
  }

  // The places of a stack that could be known if everything was read anew. One is code outside the images, if the
  // tables are old. If the stack is whole, that code may still be a method for which the runtime has registered unwind
  // data with the system: so far it is taken for native code. Another place is a return address that was refused. It is
  // identified by its frame, since hardly any is refused for good. `stack`: the one that was walked last.
  std::vector<std::uint64_t> unknown_places(const Stack& stack, bool tables_are_old) const {
    std::vector<std::uint64_t> places;
    const bool whole = stack.whole();  // asked for each frame, it took 15 s for 50,000 frames
    if (whole && !used_tables_) return places;
    const StackFrame* callee = nullptr;
    for (const StackFrame& frame : stack.frames) {
      const bool refused = frame.kind == FrameKind::gap && frame.why == OpenReason::no_call && callee != nullptr &&
                           (callee->kind == FrameKind::managed || !is_outside_images(*callee));
      const bool unknown = is_outside_images(frame) && (!whole || frame.kind == FrameKind::native);
      if (refused) places.push_back(callee->address ^ callee->stack_pointer);
      if (unknown && tables_are_old) places.push_back(frame.address);
      callee = &frame;
    }
    return places;
  }
  // Whether the stack has such a place for which nothing was read anew before.
  bool has_new_place(const Stack& stack) const {
    const bool tables_are_old = std::chrono::steady_clock::now() >= tables_are_old_;
    return std::ranges::any_of(unknown_places(stack, tables_are_old),
                               [&](std::uint64_t place) { return !unknown_.contains(place); });
  }

  // Folklore: a program loaded and unloaded two DLLs in turn. Between the listing of the images and the capture of a
  // thread, one DLL was at the other's base, and the thread's frames got names of the wrong DLL. Real case:
  // torture.exe, kind `turns`, from outside, 1 stack of 1,112. While a thread is in an image's code, the image stays
  // loaded. So an image that was unloaded or replaced by now may not be the one that the thread was in.
  bool images_still_loaded(const Stack& stack) {
    std::set<std::int32_t> seen;
    return std::ranges::all_of(stack.frames, [&](const Frame& frame) {
      return frame.module == Frame::kNone || !seen.insert(frame.module).second ||
             target_.is_still_loaded(view_.modules()[static_cast<std::size_t>(frame.module)].base);
    });
  }

  Target& target_;
  const OutsideKnowledge& knowledge_;
  std::chrono::milliseconds between_asking_anew_;
  std::uint64_t end_ns_;
  const std::chrono::steady_clock::time_point tables_are_old_ = std::chrono::steady_clock::now() + between_asking_anew_;
  std::chrono::steady_clock::time_point ask_next_{};
  std::unordered_set<std::uint64_t> unknown_;  // places that stayed unknown after everything was read anew
  ModuleTable table_;
  ModuleView view_;
  HiddenImages unlisted_;
  Module ntdll_;
  FunctionTables tables_;
  OutsideCode code_;
  CallAgreement agreement_;   // of the last walk
  bool used_tables_ = false;  // TargetStep::used_tables() of the last walk
  // The memory is not zeroed, because most stacks need only a few of its pages.
  std::unique_ptr<std::byte[]> stack_ = std::make_unique_for_overwrite<std::byte[]>(kStackBytes);
  std::unique_ptr<GuessScratch> guesses_ = std::make_unique<GuessScratch>();
};

}  // namespace

Snapshot walk_outside(Target& target, const OutsideKnowledge& knowledge, const OutsideLimits& limits) {
  const std::uint64_t end_ns =
      steady_time_ns() + static_cast<std::uint64_t>(std::chrono::nanoseconds(limits.time).count());
  Snapshot snapshot{.unix_time_ms = target.unix_time_ms(),
                    .process = target.process(),
                    .runtime = target.runtime(),
                    .engine = Engine::copy};
  if (target.crash() != nullptr) snapshot.crash = *target.crash();
  Walk walk(target, knowledge, limits.between_asking_anew, end_ns);
  snapshot.modules = walk.modules();
  std::size_t frames = 0;
  for (const TargetThread& thread : target.threads()) {
    if (knowledge.wanted && !knowledge.wanted(thread)) continue;
    if (frames >= limits.frames || steady_time_ns() >= end_ns) {
      snapshot.threads.push_back({.os_id = thread.os_id,
                                  .name = thread.name,
                                  .skipped = kNothingLeft,
                                  .created = thread.created,
                                  .cpu = thread.cpu});
      continue;
    }
    snapshot.threads.push_back(walk.walk(thread, snapshot));
    frames += snapshot.threads.back().stack.frames.size();
  }
  std::stable_sort(snapshot.threads.begin(), snapshot.threads.end(),
                   [](const Thread& left, const Thread& right) { return left.os_id < right.os_id; });
  return snapshot;
}

void add_thread_times(Snapshot& snapshot, const Target& target) {
  snapshot.unix_time_ms = target.unix_time_ms();
  std::unordered_map<std::uint32_t, const TargetThread*> listed;
  for (const TargetThread& thread : target.threads()) listed.emplace(thread.os_id, &thread);
  for (Thread& thread : snapshot.threads) {
    const auto known = listed.find(thread.os_id);
    if (known == listed.end()) continue;
    thread.created = known->second->created;
    thread.cpu = known->second->cpu;
  }
}

}  // namespace mixwalk
