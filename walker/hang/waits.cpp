#include "walker/hang/waits.h"

#include <algorithm>
#include <array>

#include "symbols/clr_stub.h"
#include "symbols/demangle/managed_name.h"
#include "unmanaged/ascii_lower.h"
#include "walker/base/count_words.h"
#include "walker/hang/context_waits.h"
#include "walker/hang/thread_roles.h"
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

// The first rule for the method that may replace the current one. A method may wait for several things in turn.
const WaitRule* method_rule(std::string_view method, const WaitRule* current) {
  for (const WaitRule& rule : wait_rules()) {
    for (const std::string_view pattern : rule.methods) {
      if (pattern.empty()) break;
      if (matches(pattern, method) && may_replace(rule, current)) return &rule;
    }
  }
  return nullptr;
}

bool makes_system_calls(std::string_view image) { return image == "ntdll" || image == "win32u"; }

bool is_system_call(std::string_view function) {
  return (function.starts_with("Nt") || function.starts_with("Zw")) &&
         !function.starts_with("Ntdll");  // NtdllDefWindowProc_W
}

// The function of the system call that the thread is in, if no rule says what such a call waits for. Such a thread does
// not run: for example, opening a file on another machine may take minutes. Only its processor time can say more.
std::string_view unknown_system_call(const FrameNames& names, const Frame& leaf) {
  const bool is_call = leaf.kind == FrameKind::native && makes_system_calls(names.image(leaf));
  if (!is_call || !is_system_call(leaf.name) || native_rule(names.image(leaf), false, leaf.name) != nullptr) return {};
  // A thread that gives up the rest of its time runs on.
  return leaf.name.ends_with("YieldExecution") ? std::string_view() : std::string_view(leaf.name);
}

// Whether the thread runs rather than waits. A frame without a name is no proof, but code outside all images is not
// behind a system call.
bool leaf_runs(const FrameNames& names, const Frame& leaf) {
  switch (leaf.kind) {
    case FrameKind::managed:
    case FrameKind::stub: return leaf.address_kind == AddressKind::instruction_pointer;
    case FrameKind::gap: return false;
    case FrameKind::native: break;
  }
  // If the frames above were left out, the leaf is a frame with a return address.
  if (leaf.address_kind != AddressKind::instruction_pointer) return false;
  const std::string_view image = names.image(leaf);
  if (!makes_system_calls(image)) return true;
  if (!leaf.has_symbol()) return false;
  // ntdll.dll waits only in system calls. The functions of the rules, such as RtlAllocateHeap, mostly just run.
  if (image == "ntdll" && !is_system_call(leaf.name)) return true;
  return native_rule(image, false, leaf.name) == nullptr && unknown_system_call(names, leaf).empty();
}

// Whether this is one of ntdll's functions in which the system itself enters a thread's code: for a window procedure,
// an APC, or the handling of an exception.
bool is_dispatcher(const FrameNames& names, const Frame& frame) {
  return names.image(frame) == "ntdll" && frame.name.starts_with("KiUser");
}

// Whether the image may be the loader's. The loader waits for its lock by ntdll's own functions, and LoadLibrary calls
// those at once. Other frames in between belong to a DllMain, which runs under the lock.
bool may_be_loader(std::string_view image) { return image == "ntdll" || image == "kernelbase" || image == "kernel32"; }

// Whether a thread that loads a DLL does something other than to wait for the loader lock.
bool is_other_call(const WaitRule* current) {
  return current != nullptr && current->layer == WaitLayer::call && current->key != "system-wait";
}

// The images through which programs come to a system call.
bool calls_for_programs(std::string_view image) {
  constexpr std::array<std::string_view, 7> kImages = {"ntdll",  "kernelbase", "kernel32", "user32",
                                                       "win32u", "ws2_32",     "mswsock"};
  return std::ranges::find(kImages, image) != kImages.end();
}

// Returns the number of frames directly below the leaf that are looked through: other software has patched the system
// call, so a frame of its DLL is between the call and the function of the system that waits.
std::uint32_t patched_frames(const FrameNames& names, const std::vector<StackFrame>& frames) {
  constexpr std::uint32_t kMost = 8;
  if (frames.front().kind != FrameKind::native || !makes_system_calls(names.image(frames.front()))) return 0;
  std::uint32_t count = 0;
  while (count < kMost && count + 1 < frames.size() && frames[count + 1].kind == FrameKind::native &&
         !names.system(frames[count + 1])) {
    ++count;
  }
  if (count == 0 || count + 1 >= frames.size()) return 0;
  const Frame& caller = frames[count + 1];
  const std::string_view image = names.image(caller);
  // A function that waits calls nothing of the program, and no program calls win32u.dll itself.
  const bool waits = (calls_for_programs(image) && native_rule(image, false, caller.name) != nullptr) ||
                     (image == "user32" && names.image(frames.front()) == "win32u");
  return waits ? count : 0;
}

// What COM does in a leaf run.
enum class ComPart : std::uint8_t {
  none,
  waits,  // other code waits by CoWaitForMultipleHandles, which handles messages and COM calls meanwhile
  perhaps_calls,  // as `calls` if the caller is known to call COM; otherwise it is not known
  calls,          // a call into another apartment or process is under way
};

struct ComCall {
  ComPart part = ComPart::none;
  std::uint32_t frame = kNoFrame;  // the function of COM that other code has called
};

// Only the system's functions that wait may be between the leaf and COM's frames: a server's method that waits has
// COM's frames below it, which have called the method. `end`: the number of frames of the leaf run. `patched`: frames
// behind the leaf that are looked through.
ComCall com_part(const FrameNames& names, const std::vector<StackFrame>& frames, std::uint32_t end,
                 std::uint32_t patched) {
  const auto is_one_of = [&](std::uint32_t i, std::initializer_list<std::string_view> images) {
    return frames[i].kind == FrameKind::native && std::ranges::find(images, names.image(frames[i])) != images.end();
  };
  const auto waits_for_com = [&](std::uint32_t i) {
    return (i != 0 && i <= patched) || is_one_of(i, {"ntdll", "win32u", "user32", "kernelbase", "kernel32"});
  };
  std::uint32_t i = 0;
  while (i < end && waits_for_com(i)) ++i;
  bool com = false, rpc = false, waits = false;
  for (; i < end && is_one_of(i, {"combase", "ole32", "rpcrt4"}); ++i) {
    (names.image(frames[i]) == "rpcrt4" ? rpc : com) = true;
    waits = waits || frames[i].name.starts_with("CoWaitForMultiple");
    if (frames[i].name == "DoDragDrop") return {};  // a message loop, while a person drags
  }
  // Each call of a proxy goes through rpcrt4.dll.
  if (!com) return {};
  return {rpc ? ComPart::calls : waits ? ComPart::waits : ComPart::perhaps_calls, i - 1};
}

struct Found {
  const WaitRule* rule = nullptr;
  std::uint32_t frame = kNoFrame;
  bool by_context = false;  // the SynchronizationContext waits for the method
  std::uint32_t first_managed = kNoFrame;  // may also be a stub
  std::uint32_t program = kNoFrame;
  std::uint32_t natives = 0;  // the number of native frames above first_managed
  bool native_of_program = false, native_of_runtime = false;
  bool dispatched = false;  // a dispatcher is among the native frames above first_managed
  ComCall com;
};

// Searches from the leaf to the first frame of the program in managed code.
Found look(const FrameNames& names, const std::vector<StackFrame>& frames) {
  Found found;
  std::size_t reach = kReach;
  bool loader_alone = true;  // all frames so far are of the loader's images
  const std::uint32_t begin = begin_of_wait(frames, [&](const Frame& frame) { return names.runtime(frame); });
  const std::uint32_t patched = patched_frames(names, frames);
  // A thread that gets memory for a heap, maps a DLL, or wakes another thread does not wait for the lock. In
  // win32u.dll, a thread that waits may be handling messages.
  const bool waits_for_no_lock =
      names.image(frames.front()) == "ntdll" && !unknown_system_call(names, frames.front()).empty();
  found.by_context = begin != 0;
  found.native_of_runtime = found.by_context;
  const auto say = [&](const WaitRule* rule, std::uint32_t frame) {
    // A native function of the same wait, farther from the leaf, is preferred, because the functions that it calls may
    // differ while the wait lasts.
    const bool native = frames[frame].kind == FrameKind::native;
    if (native && rule != nullptr && rule == found.rule && frame == found.frame + 1) found.frame = frame;
    if (rule == nullptr || !may_replace(*rule, found.rule)) return;
    if (rule->key == "loader-lock" && (!loader_alone || is_other_call(found.rule))) return;
    if (waits_for_no_lock && is_lock_wait(rule->key)) return;
    found.rule = rule;
    found.frame = frame;
    reach = kReach;
  };
  const auto count = static_cast<std::uint32_t>(std::min(frames.size(), kMaxWaitFrames));
  for (std::uint32_t i = begin; i < count; ++i) {
    const Frame& frame = frames[i];
    if (i != 0 && i <= patched) continue;
    if (found.program == kNoFrame && names.of_program(frame)) found.program = i;
    if (frame.kind == FrameKind::gap) break;
    if (frame.kind == FrameKind::native) {
      if (found.first_managed != kNoFrame) break;
      ++found.natives;
      found.native_of_program = found.native_of_program || (!names.system(frame) && frame.module != Frame::kNone);
      found.native_of_runtime = found.native_of_runtime || names.runtime(frame);
      loader_alone = loader_alone && (frame.module == Frame::kNone || may_be_loader(names.image(frame)));
      // What a dispatcher has interrupted is not what the thread waits for.
      found.dispatched = found.dispatched || is_dispatcher(names, frame);
      if (found.native_of_program || found.dispatched) continue;
      say(native_rule(names.image(frame), names.runtime(frame), frame.name), i);
      continue;
    }
    if (found.first_managed == kNoFrame) found.first_managed = i;
    if (frame.kind == FrameKind::stub) {
      const bool waits_in_target = !found.native_of_program && !found.dispatched;
      if (clr_stub(frame.name) == ClrStub::pinvoke && waits_in_target) say(target_rule(frame.target), i);
      continue;
    }
    if (!names.library(frame) || reach == 0) break;
    --reach;
    say(method_rule(method_of(frame.name), found.rule), i);
  }
  if (!found.by_context) {
    const auto size = static_cast<std::uint32_t>(frames.size());
    found.com = com_part(names, frames, std::min({found.first_managed, count, size}), patched);
  }
  // The messages that are handled meanwhile are not what the thread waits for.
  if (found.com.part == ComPart::waits && found.rule != nullptr && found.rule->key == "message-loop") {
    found.rule = find_wait_rule("system-wait");
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
std::uint32_t significant_native(const FrameNames& names, const std::vector<StackFrame>& frames, std::uint32_t end) {
  for (std::uint32_t i = end; i-- > 0;) {
    if (frames[i].kind == FrameKind::native && names.of_program(frames[i])) return i;
  }
  return end == 0 ? kNoFrame : end - 1;
}

// Whether this is a COM call of Type.InvokeMember or of Visual Basic. The runtime makes such a call itself, without a
// stub.
bool is_late_bound_call(const Frame& caller) {
  return caller.kind == FrameKind::managed && method_of(caller.name) == "System.RuntimeType.InvokeDispMethod";
}

// The wait of a thread that waits in a COM call. `caller`: the frame that has made the call, or kNoFrame.
Wait com_wait(const std::vector<StackFrame>& frames, const Found& found, std::uint32_t caller,
              const std::string& call) {
  Wait wait = rule_wait("com-call", found, caller == kNoFrame ? found.com.frame : caller);
  const bool stub = caller != kNoFrame && frames[caller].kind == FrameKind::stub &&
                    clr_stub(frames[caller].name) == ClrStub::com_out;
  if (stub && !frames[caller].target.empty()) {
    wait.words = "waits for the COM call " + clipped(managed_name(frames[caller].target));
  }
  if (found.com.part == ComPart::calls) {
    wait.state = WaitState::blocked;
    wait.words += " into another apartment or process";
  }
  if (!stub && !call.empty()) wait.words += ", in " + call;
  return wait;
}

// Whether the method itself has called native code, because the JIT has inlined the stub of the P/Invoke.
bool is_inlined_call(const FrameNames& names, const Frame& caller, const Found& found) {
  const bool by_runtime = found.native_of_runtime || found.dispatched;
  return caller.kind == FrameKind::managed && !names.library(caller) && !caller.name.empty() && found.natives != 0 &&
         !by_runtime && (found.com.part == ComPart::none || found.com.part == ComPart::waits);
}

// The call out of managed code below which the thread waits, "the P/Invoke orders!submit". Empty if it is not known.
// The name of the called function stands for the declared target of a call whose stub was inlined.
std::string call_out(const FrameNames& names, const std::vector<StackFrame>& frames, const Found& found) {
  if (found.first_managed == kNoFrame) return {};
  const Frame& caller = frames[found.first_managed];
  if (is_inlined_call(names, caller, found)) {
    std::string target = short_label(names.snapshot(), frames[found.first_managed - 1]);
    const std::size_t end = target.find('!');
    constexpr std::string_view kDll = ".dll";
    if (end != std::string::npos && ascii_lower(target.substr(0, end)).ends_with(kDll)) {
      target.erase(end - kDll.size(), kDll.size());
    }
    return "the P/Invoke " + target;
  }
  for (std::uint32_t i = found.first_managed; i < frames.size() && frames[i].kind == FrameKind::stub; ++i) {
    const ClrStub stub = clr_stub(frames[i].name);
    if (stub != ClrStub::pinvoke && stub != ClrStub::com_out) continue;
    return frames[i].target.empty() ? std::string() : "the " + short_label(names.snapshot(), frames[i]);
  }
  return {};
}

// The wait of a thread whose leaf run was called by managed code, if no .NET method shows what the wait is for. `call`:
// call_out().
Wait wait_below_call(const FrameNames& names, const std::vector<StackFrame>& frames, Found found, std::string call) {
  const Frame& caller = frames[found.first_managed];
  const bool com_out = caller.kind == FrameKind::stub && clr_stub(caller.name) == ClrStub::com_out;
  const bool pinvoke = caller.kind == FrameKind::stub && clr_stub(caller.name) == ClrStub::pinvoke;
  const bool inlined = is_inlined_call(names, caller, found);
  if (call.empty() && (pinvoke || com_out)) call = "a " + short_label(names.snapshot(), caller);
  const Frame& called = frames[found.first_managed == 0 ? 0 : found.first_managed - 1];
  const bool known = found.rule != nullptr && found.rule->layer == WaitLayer::native;
  // A thread of a single-threaded apartment handles messages while it waits for the answer of the other thread.
  const bool com_call = com_out || (is_late_bound_call(caller) && !found.native_of_program);
  if (com_call && found.com.part == ComPart::perhaps_calls) found.com.part = ComPart::calls;
  // Without COM's own frames the object is of this apartment. If it handles messages, it shows a dialog.
  const bool shows_dialog = known && found.rule->state == WaitState::idle && found.com.part != ComPart::calls;
  const bool waits_in_call = found.com.part == ComPart::calls || (com_call && !shows_dialog);
  const bool is_blocked = known && found.rule->state == WaitState::blocked;
  if (waits_in_call && !is_blocked) return com_wait(frames, found, found.first_managed, call);
  const bool in_native = pinvoke || inlined || found.native_of_program;
  // Reading, writing, a sleep and completed I/O have the same meaning in native code. A wait there means nothing by
  // itself.
  const bool is_meaningful = known || (in_native && found.rule != nullptr && found.rule->key != "system-wait");
  // Whether the program itself calls a wait of the system, with no unknown code below that call.
  const bool calls_it = !found.native_of_program && found.rule != nullptr &&
                        ((pinvoke && target_rule(caller.target) == found.rule) ||
                         (inlined && native_rule(names.image(called), false, called.name) == found.rule));
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
      wait.words += ", called by " + call + " (" + count_words(found.natives, "native frame") + ")";
    }
    return wait;
  }
  if (found.native_of_runtime && !names.library(caller)) return rule_wait("runtime-wait", found, 0);
  if (names.library(caller)) {
    Wait wait = rule_wait("library-wait", found, found.first_managed);
    // Folklore: the runtime may hold a thread that returns to managed code, until a collection ends. Only some builds
    // show this by the names of their functions. Real case: the finalizer thread of a program that collects all the
    // time "hung in a finalizer". Remedy: such a wait proves nothing by itself. Tests: WaitsTest, healthy_test.
    if (found.native_of_runtime) wait.state = WaitState::unknown;
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

// Whether a function of ntdll.dll without a name waits in the system call by which slim locks, critical sections,
// condition variables and WaitOnAddress all wait.
bool is_alert_without_a_name(const FrameNames& names, const std::vector<StackFrame>& frames) {
  std::string held;
  if (frames.size() < 2 || nt_name(frames[0].name, held) != "NtWaitForAlertByThreadId") return false;
  const Frame& caller = frames[1];
  return caller.kind == FrameKind::native && names.image(caller) == "ntdll" && !caller.has_symbol();
}

// The wait of a thread without managed frames.
Wait native_wait(const FrameNames& names, const Thread& thread, const Found& found) {
  const std::vector<StackFrame>& frames = thread.stack.frames;
  if (found.rule != nullptr && is_firm(*found.rule)) return rule_wait(*found.rule, found);
  const bool calls_com = found.com.part == ComPart::calls;
  bool all_runtime = false, all_system = true;
  for (const Frame& frame : frames) {
    if (frame.kind == FrameKind::gap) return found.rule != nullptr ? rule_wait(*found.rule, found) : Wait{};
    if (is_thread_start(names, frame)) continue;
    all_runtime = all_runtime || names.runtime(frame);
    all_system = all_system && names.system(frame);
  }
  // Threads of COM itself, which have no other frames than those of the system, wait for calls.
  if (calls_com && (all_runtime || !all_system)) return com_wait(frames, found, kNoFrame, {});
  if (all_system && all_runtime) return rule_wait(is_finalizer(thread) ? "finalizer" : "runtime-helper", found, 0);
  const bool plain = found.rule == nullptr || found.rule->key == "system-wait" ||
                     found.rule->state == WaitState::signal || found.rule->key == "rpc-call";
  if (all_system && plain) return rule_wait("system-helper", found, 0);
  if (!plain) return rule_wait(*found.rule, found);
  Wait wait = rule_wait(is_alert_without_a_name(names, frames) ? "alert-wait" : "native-wait", found, 0);
  const std::uint32_t native = wait.rule == "native-wait" ? found.program : kNoFrame;
  if (native != kNoFrame) wait.words = "waits in native code: " + short_label(names.snapshot(), frames[native]);
  return wait;
}

// Whether this is the program's Main, on the thread on which the program began, so that no managed frame called it.
bool is_main(const std::vector<StackFrame>& frames, std::uint32_t program) {
  if (program == kNoFrame || frames[program].kind != FrameKind::managed) return false;
  if (!is_main_method(method_of(frames[program].name))) return false;
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

bool calls_apartment(const Wait& wait) { return wait.rule == "com-call" && wait.state == WaitState::blocked; }

bool is_finalizer(const Thread& thread) {
  if (thread.name == ".NET Finalizer") return true;
  return std::ranges::any_of(thread.stack.frames, [](const Frame& frame) {
    return frame.kind == FrameKind::native && frame.name.find("FinalizerThread::") != std::string::npos;
  });
}

const Frame* running_constructor(const Thread& thread) {
  for (const Frame& frame : thread.stack.frames) {
    if (frame.kind != FrameKind::managed || frame.name.find(kStaticConstructor) == std::string::npos) continue;
    if (method_of(frame.name).ends_with(kStaticConstructor)) return &frame;
  }
  return nullptr;
}

bool waits_in_runtime(const FrameNames& names, const Thread& thread) {
  const Frame* last = nullptr;
  for (const Frame& frame : thread.stack.frames) {
    if (frame.kind != FrameKind::native) {
      return frame.kind == FrameKind::managed && last != nullptr && names.runtime(*last);
    }
    if (!names.system(frame)) return false;
    last = &frame;
  }
  return false;
}

Wait wait_of(const FrameNames& names, const Thread& thread) {
  const std::vector<StackFrame>& frames = thread.stack.frames;
  if (frames.empty()) return {};
  Found found = look(names, frames);
  const bool spins = found.rule != nullptr && is_spin_wait(found.rule->key);
  if (leaf_runs(names, frames.front()) && !spins) {
    return {WaitState::runs, {}, "runs in " + short_label(names.snapshot(), frames.front()), 0, found.program};
  }
  const std::string_view system_call = unknown_system_call(names, frames.front());
  if (!system_call.empty() && found.rule == nullptr) {
    Wait wait = rule_wait("system-call", found, 0);
    wait.words += " " + clipped(system_call);
    return wait;
  }
  if (found.first_managed == kNoFrame) return native_wait(names, thread, found);
  const bool by_method =
      found.rule != nullptr && found.rule->layer >= WaitLayer::primitive && found.com.part != ComPart::calls;
  std::string call = call_out(names, frames, found);
  Wait wait = by_method ? rule_wait(*found.rule, found) : wait_below_call(names, frames, found, call);
  wait.call = std::move(call);
  if (wait.rule == "task-wait" && is_pool_worker(thread)) return rule_wait("pool-task-wait", found, found.frame);
  const bool is_for_work = (wait.state == WaitState::signal && wait.rule != "exit") || wait.rule == "process-wait";
  const bool may_be_main = by_method && is_for_work;
  if (may_be_main && is_main(frames, wait.program)) {
    Wait main = rule_wait("main-wait", found, found.frame);
    main.words += " (" + wait.words + ")";
    return main;
  }
  return wait;
}

}  // namespace mixwalk
