#include "walker/hang/waits.h"

#include <algorithm>
#include <array>

#include "symbols/clr_stub.h"
#include "symbols/demangle/managed_name.h"
#include "unmanaged/image/ascii_lower.h"
#include "walker/hang/wait_rules.h"

namespace mixwalk {
namespace {

// How many methods of .NET may be between a wait and the method that shows what the wait is for.
constexpr std::size_t kReach = 6;
// The declared target of a P/Invoke may have any length. No function of a rule is longer than this, in bytes.
constexpr std::size_t kMaxTarget = 1024;

bool matches(std::string_view pattern, std::string_view name) {
  if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
  return pattern == name;
}

// A system call has two names, and ntdll's own frames may show either.
std::string_view nt_name(std::string_view name, std::string& held) {
  if (!name.starts_with("Zw")) return name;
  held = "Nt" + std::string(name.substr(2));
  return held;
}

bool native_matches(std::string_view pattern, std::string_view image, bool runtime, std::string_view function) {
  const std::size_t at = pattern.find('!');
  if (at == std::string_view::npos) return false;
  const std::string_view wanted = pattern.substr(0, at);
  return (wanted == "@" ? runtime : wanted == image) && matches(pattern.substr(at + 1), function);
}

const WaitRule* native_rule(std::string_view image, bool runtime, std::string_view name) {
  std::string held;
  const std::string_view function = nt_name(name, held);
  for (const WaitRule& rule : wait_rules()) {
    for (const std::string_view pattern : rule.natives) {
      if (pattern.empty()) break;
      if (native_matches(pattern, image, runtime, function)) return &rule;
    }
  }
  return nullptr;
}

// "kernel32!WaitForSingleObject", as a program declares it: with or without ".dll", in any case.
const WaitRule* target_rule(std::string_view target) {
  const std::size_t at = target.find('!');
  if (at == std::string_view::npos || target.size() > kMaxTarget) return nullptr;
  std::string image = ascii_lower(target.substr(0, at));
  if (image.ends_with(".dll")) image.resize(image.size() - 4);
  return native_rule(image, false, target.substr(at + 1));
}

const WaitRule* method_rule(std::string_view method) {
  for (const WaitRule& rule : wait_rules()) {
    for (const std::string_view pattern : rule.methods) {
      if (pattern.empty()) break;
      if (matches(pattern, method)) return &rule;
    }
  }
  return nullptr;
}

// Whether the native rule is certain, so that the rule of the .NET method that called it does not replace it.
bool is_firm(const WaitRule& rule) {
  return rule.layer == WaitLayer::native &&
         (rule.state == WaitState::blocked || rule.key == "jit" || rule.key == "gc-suspension");
}

bool may_replace(const WaitRule& rule, const WaitRule* current) {
  if (current == nullptr) return true;
  if (std::ranges::find(rule.around, current->key) != rule.around.end()) return true;
  return !is_firm(*current) && current->layer < rule.layer &&
         (rule.layer != WaitLayer::wrapper || current->layer != WaitLayer::primitive);
}

// Whether the thread runs rather than waits. A frame without a name is no proof.
bool leaf_runs(const FrameNames& names, const Frame& leaf) {
  switch (leaf.kind) {
    case FrameKind::managed:
    case FrameKind::stub: return leaf.address_kind == AddressKind::instruction_pointer;
    case FrameKind::gap: return false;
    case FrameKind::native: break;
  }
  // If the frames above were left out, the leaf is a frame with a return address.
  if (leaf.address_kind != AddressKind::instruction_pointer || leaf.module == Frame::kNone) return false;
  const std::string_view image = names.image(leaf);
  const bool calls_system = image == "ntdll" || image == "win32u";
  if (!calls_system) return true;  // other images make no system calls
  const bool named = !leaf.name.empty() && leaf.symbol != SymbolKind::function_table;
  return named && native_rule(image, false, leaf.name) == nullptr;
}

// Whether the image may be the loader's. The loader waits for its lock by ntdll's own functions, and LoadLibrary calls
// those at once. Other frames in between belong to a DllMain, which runs under the lock.
bool may_be_loader(std::string_view image) { return image == "ntdll" || image == "kernelbase" || image == "kernel32"; }

// Whether a thread that loads a DLL does something other than to wait for the loader lock.
bool is_other_call(const WaitRule* current) {
  return current != nullptr && current->layer == WaitLayer::call && current->key != "system-wait";
}

struct Found {
  const WaitRule* rule = nullptr;
  std::uint32_t frame = kNoFrame;
  std::uint32_t first_managed = kNoFrame;  // may also be a stub
  std::uint32_t program = kNoFrame;
  std::uint32_t natives = 0;  // the number of native frames above first_managed
  bool native_of_program = false, native_of_runtime = false;
};

// Searches from the leaf to the first frame of the program in managed code.
Found look(const FrameNames& names, const std::vector<Frame>& frames) {
  Found found;
  std::size_t reach = kReach;
  bool loader_alone = true;  // all frames so far are of the loader's images
  const auto say = [&](const WaitRule* rule, std::uint32_t frame) {
    // A native function of the same wait, farther from the leaf, is preferred, because the functions that it calls may
    // differ while the wait lasts.
    const bool native = frames[frame].kind == FrameKind::native;
    if (native && rule != nullptr && rule == found.rule && frame == found.frame + 1) found.frame = frame;
    if (rule == nullptr || !may_replace(*rule, found.rule)) return;
    if (rule->key == "loader-lock" && (!loader_alone || is_other_call(found.rule))) return;
    found.rule = rule;
    found.frame = frame;
    reach = kReach;
  };
  const auto count = static_cast<std::uint32_t>(std::min(frames.size(), kMaxWaitFrames));
  for (std::uint32_t i = 0; i < count; ++i) {
    const Frame& frame = frames[i];
    if (found.program == kNoFrame && names.of_program(frame)) found.program = i;
    if (frame.kind == FrameKind::gap) break;
    if (frame.kind == FrameKind::native) {
      if (found.first_managed != kNoFrame) break;
      ++found.natives;
      found.native_of_program = found.native_of_program || (!names.system(frame) && frame.module != Frame::kNone);
      found.native_of_runtime = found.native_of_runtime || names.runtime(frame);
      loader_alone = loader_alone && (frame.module == Frame::kNone || may_be_loader(names.image(frame)));
      if (!found.native_of_program) say(native_rule(names.image(frame), names.runtime(frame), frame.name), i);
      continue;
    }
    if (found.first_managed == kNoFrame) found.first_managed = i;
    if (frame.kind == FrameKind::stub) {
      if (clr_stub(frame.name) == ClrStub::pinvoke && !found.native_of_program) say(target_rule(frame.target), i);
      continue;
    }
    if (!names.library(frame) || reach == 0) break;
    --reach;
    say(method_rule(method_of(frame.name)), i);
  }
  for (std::uint32_t i = count; found.program == kNoFrame && i < frames.size(); ++i) {
    if (names.of_program(frames[i])) found.program = i;
  }
  return found;
}

Wait rule_wait(const WaitRule& rule, const Found& found) {
  return {rule.state, rule.key, std::string(rule.words), found.frame, found.program};
}

Wait rule_wait(std::string_view key, const Found& found, std::uint32_t frame) {
  Wait wait = rule_wait(*find_wait_rule(key), found);
  wait.frame = frame;
  return wait;
}

// The most important native frame of a call out of managed code: of the program's own frames the one nearest to the
// call, or, if there is none, the frame directly before the call.
std::uint32_t significant_native(const FrameNames& names, const std::vector<Frame>& frames, std::uint32_t end) {
  for (std::uint32_t i = end; i-- > 0;) {
    if (frames[i].kind == FrameKind::native && names.of_program(frames[i])) return i;
  }
  return end == 0 ? kNoFrame : end - 1;
}

std::string plural(std::uint32_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

bool has_image(const FrameNames& names, const std::vector<Frame>& frames, std::uint32_t end,
               std::initializer_list<std::string_view> images) {
  for (std::uint32_t i = 0; i < end; ++i) {
    if (frames[i].kind == FrameKind::native && std::ranges::find(images, names.image(frames[i])) != images.end()) {
      return true;
    }
  }
  return false;
}

// Whether this is a COM call of Type.InvokeMember or of Visual Basic. The runtime makes such a call itself, without a
// stub.
bool is_late_bound_call(const Frame& caller) {
  return caller.kind == FrameKind::managed && method_of(caller.name) == "System.RuntimeType.InvokeDispMethod";
}

bool leaves_apartment(const FrameNames& names, const std::vector<Frame>& frames, const Found& found) {
  return has_image(names, frames, found.first_managed, {"combase", "ole32", "rpcrt4"});
}

// The wait of a thread that waits in a COM call.
Wait com_wait(const FrameNames& names, const std::vector<Frame>& frames, const Found& found) {
  Wait wait = rule_wait("com-call", found, found.first_managed);
  const std::string& target = frames[found.first_managed].target;
  if (!target.empty()) wait.words = "waits for the COM call " + clipped(managed_name(target));
  if (leaves_apartment(names, frames, found)) {
    wait.state = WaitState::blocked;
    wait.words += " into another apartment or process";
  }
  return wait;
}

// The wait of a thread whose leaf run was called by managed code, if no .NET method shows what the wait is for.
Wait wait_below_call(const FrameNames& names, const std::vector<Frame>& frames, const Found& found) {
  const Frame& caller = frames[found.first_managed];
  const bool com_out = caller.kind == FrameKind::stub && clr_stub(caller.name) == ClrStub::com_out;
  const bool pinvoke = caller.kind == FrameKind::stub && clr_stub(caller.name) == ClrStub::pinvoke;
  // "the P/Invoke orders!submit".
  std::string call;
  if (pinvoke || com_out) call = (caller.target.empty() ? "a " : "the ") + short_label(names.snapshot(), caller);
  const bool known = found.rule != nullptr && found.rule->layer == WaitLayer::native;
  // A thread of a single-threaded apartment handles messages while it waits for the answer of the other thread.
  const bool com_call = com_out || (is_late_bound_call(caller) && !found.native_of_program);
  // Without COM's own frames the object is of this apartment. If it handles messages, it shows a dialog.
  const bool shows_dialog = known && found.rule->state == WaitState::idle && !leaves_apartment(names, frames, found);
  if (com_call && !shows_dialog && (!known || found.rule->state != WaitState::blocked)) {
    return com_wait(names, frames, found);
  }
  const bool in_native = pinvoke || found.native_of_program;
  // Reading, writing and completed I/O have the same meaning in native code. A wait or a sleep there means nothing by
  // itself.
  const bool is_meaningful = known || (in_native && found.rule != nullptr && found.rule->key != "system-wait" &&
                                       found.rule->key != "native-sleep");
  // Whether the program itself calls a wait or a sleep of the system, with no unknown code below that call.
  const bool calls_it = pinvoke && !found.native_of_program && found.rule != nullptr &&
                        target_rule(caller.target) == found.rule;
  if (is_meaningful || calls_it) {
    Wait wait = rule_wait(*found.rule, found);
    // The system's objects have no owner.
    if (!is_meaningful && wait.state == WaitState::unknown) wait.state = WaitState::signal;
    if (!call.empty()) wait.words += ", in " + call;
    return wait;
  }
  if (in_native) {
    const std::uint32_t native = significant_native(names, frames, found.first_managed);
    Wait wait = rule_wait("native-call", found, found.first_managed);
    if (native != kNoFrame) {
      wait.words = "waits in native code: " + short_label(names.snapshot(), frames[native]);
      if (found.program == kNoFrame || found.program > native) wait.program = native;
    }
    if (!call.empty()) {
      wait.words += ", called by " + call + " (" + plural(found.natives, "native frame") + ")";
    }
    return wait;
  }
  if (found.native_of_runtime && !names.library(caller)) return rule_wait("runtime-wait", found, 0);
  if (names.library(caller)) {
    Wait wait = rule_wait("library-wait", found, found.first_managed);
    wait.words = "waits in " + short_label(names.snapshot(), caller);
    return wait;
  }
  return found.rule != nullptr ? rule_wait(*found.rule, found) : rule_wait("runtime-wait", found, 0);
}

bool is_thread_start(const FrameNames& names, const Frame& frame) {
  const std::string_view image = names.image(frame);
  return (image == "ntdll" && (frame.name == "RtlUserThreadStart" || frame.name.empty())) ||
         (image == "kernel32" && (frame.name == "BaseThreadInitThunk" || frame.name.empty()));
}

// The wait of a thread without managed frames.
Wait native_wait(const FrameNames& names, const Thread& thread, const Found& found) {
  const std::vector<Frame>& frames = thread.stack.frames;
  if (found.rule != nullptr && is_firm(*found.rule)) return rule_wait(*found.rule, found);
  bool all_runtime = false, all_system = true;
  for (const Frame& frame : frames) {
    if (frame.kind == FrameKind::gap) return found.rule != nullptr ? rule_wait(*found.rule, found) : Wait{};
    if (is_thread_start(names, frame)) continue;
    all_runtime = all_runtime || names.runtime(frame);
    all_system = all_system && names.system(frame);
  }
  if (all_system && all_runtime) return rule_wait(is_finalizer(thread) ? "finalizer" : "runtime-helper", found, 0);
  const bool plain = found.rule == nullptr || found.rule->key == "system-wait" ||
                     found.rule->state == WaitState::signal || found.rule->key == "rpc-call";
  if (all_system && plain) return rule_wait("system-helper", found, 0);
  if (!plain) return rule_wait(*found.rule, found);
  Wait wait = rule_wait("native-wait", found, 0);
  const std::uint32_t native = found.program;
  if (native != kNoFrame) wait.words = "waits in native code: " + short_label(names.snapshot(), frames[native]);
  return wait;
}

// Whether this is the program's Main, on the thread on which the program began, so that no managed frame called it. The
// compiler makes a method <Main> that calls an asynchronous Main, and calls the method of top-level statements <Main>$.
bool is_main(const std::vector<Frame>& frames, std::uint32_t program) {
  if (program == kNoFrame || frames[program].kind != FrameKind::managed) return false;
  const std::string method = method_of(frames[program].name);
  constexpr std::array<std::string_view, 3> kNames = {".Main", ".<Main>", ".<Main>$"};
  if (std::ranges::none_of(kNames, [&](std::string_view name) { return method.ends_with(name); })) return false;
  return std::none_of(frames.begin() + program + 1, frames.end(),
                      [](const Frame& frame) { return frame.kind != FrameKind::native; });
}

}  // namespace

bool is_pool_worker(const Thread& thread) {
  constexpr std::array<std::string_view, 3> kWorkers = {"System.Threading.PortableThreadPool+WorkerThread.",
                                                        "System.Threading.ThreadPoolWorkQueue.Dispatch(",
                                                        "System.Threading._ThreadPoolWaitCallback."};
  constexpr std::size_t kFromRoot = 64;
  std::size_t seen = 0;
  for (auto frame = thread.stack.frames.rbegin(); frame != thread.stack.frames.rend() && seen != kFromRoot;
       ++frame, ++seen) {
    if (frame->kind != FrameKind::managed) continue;
    if (std::ranges::any_of(kWorkers, [&](std::string_view begin) { return frame->name.starts_with(begin); })) {
      return true;
    }
  }
  return false;
}

bool is_finalizer(const Thread& thread) {
  if (thread.name == ".NET Finalizer") return true;
  return std::ranges::any_of(thread.stack.frames, [](const Frame& frame) {
    return frame.kind == FrameKind::native && frame.name.find("FinalizerThread::") != std::string::npos;
  });
}

Wait wait_of(const FrameNames& names, const Thread& thread) {
  const std::vector<Frame>& frames = thread.stack.frames;
  if (frames.empty()) return {};
  Found found = look(names, frames);
  if (leaf_runs(names, frames.front())) {
    return {WaitState::runs, {}, "runs in " + short_label(names.snapshot(), frames.front()), 0, found.program};
  }
  if (found.first_managed == kNoFrame) return native_wait(names, thread, found);
  const bool by_method = found.rule != nullptr && found.rule->layer >= WaitLayer::primitive;
  Wait wait = by_method ? rule_wait(*found.rule, found) : wait_below_call(names, frames, found);
  if (wait.rule == "task-wait" && is_pool_worker(thread)) return rule_wait("pool-task-wait", found, found.frame);
  const bool may_be_main = by_method && (wait.state == WaitState::signal || wait.rule == "process-wait");
  if (may_be_main && is_main(frames, wait.program)) {
    Wait main = rule_wait("main-wait", found, found.frame);
    main.words += " (" + wait.words + ")";
    return main;
  }
  return wait;
}

}  // namespace mixwalk
