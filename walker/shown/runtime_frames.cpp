#include "walker/shown/runtime_frames.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "unmanaged/ascii_lower.h"
#include "walker/model/runtime_images.h"

namespace mixwalk {
namespace {

// At least two frames are folded, because a single frame is as clear as a line that stands for it.
constexpr std::size_t kMin = 2;

bool has_own_name(const Frame& frame) {
  if (frame.name.empty()) return false;
  switch (frame.symbol) {
    // An export names the entry that was called, not the code that runs there.
    case SymbolKind::function_table:
    case SymbolKind::exported:
    case SymbolKind::import: return false;
    case SymbolKind::none:
    case SymbolKind::coff:
    case SymbolKind::dwarf:
    case SymbolKind::pdb: return true;
  }
  return true;
}

bool is_marked(const StackFrame& frame) {
  return frame.call == CallCheck::no_call || frame.call == CallCheck::elsewhere;
}

bool starts_with_any(std::string_view name, auto const& beginnings) {
  return std::ranges::any_of(beginnings, [name](std::string_view begin) { return name.starts_with(begin); });
}

// The methods with which the library of .NET or .NET Framework begins a thread of the program.
bool begins_thread(std::string_view method) {
  constexpr std::array<std::string_view, 4> kBegins = {
      "System.Threading.Thread.StartCallback(", "System.Threading.Thread.StartHelper",
      "System.Threading.Thread.StartCore(", "System.Threading.ThreadHelper.ThreadStart"};
  return starts_with_any(method, kBegins);
}

// For a method of the library whose work the runtime itself does, returns the public method that programmers know.
// Returns an empty text for any other method. The library calls the runtime through internal methods ("Enter_Slowpath")
// that differ from version to version. So a method is recognised by the beginning of its name and by the text that
// follows this beginning.
std::string_view public_name(std::string_view method) {
  struct Method {
    std::string_view begin, name;
  };
  constexpr std::array<Method, 14> kMethods = {{
      {"System.Threading.Monitor.Enter", "Monitor.Enter"},
      {"System.Threading.Monitor.ReliableEnterTimeout", "Monitor.TryEnter"},
      {"System.Threading.Monitor.ReliableEnter", "Monitor.Enter"},
      {"System.Threading.Monitor.TryEnter", "Monitor.TryEnter"},
      {"System.Threading.Monitor.Wait", "Monitor.Wait"},
      {"System.Threading.Monitor.ObjWait", "Monitor.Wait"},
      {"System.Threading.WaitHandle.WaitOne", "WaitHandle.WaitOne"},
      {"System.Threading.WaitHandle.WaitMultiple", "WaitHandle.WaitAny or WaitAll"},
      {"System.Threading.Thread.Sleep", "Thread.Sleep"},
      {"System.Threading.Thread.Join", "Thread.Join"},
      {"System.Threading.Thread.Yield", "Thread.Yield"},
      {"System.GC.WaitForPendingFinalizers", "GC.WaitForPendingFinalizers"},
      {"System.GC.Collect", "GC.Collect"},
      {"System.GC._Collect", "GC.Collect"},
  }};
  constexpr std::array<std::string_view, 7> kFurther = {"(", "_", "Internal", "Core", "NoCheck", "Native",
                                                        "IgnoringSyncContext"};
  const auto found = std::ranges::find_if(kMethods, [&](const Method& known) {
    return method.starts_with(known.begin) && starts_with_any(method.substr(known.begin.size()), kFurther);
  });
  return found == kMethods.end() ? std::string_view() : found->name;
}

bool is_system_wait(std::string_view name) {
  constexpr std::array<std::string_view, 5> kWaits = {"NtWaitFor", "ZwWaitFor", "NtDelayExecution",
                                                      "ZwDelayExecution", "NtSignalAndWait"};
  return starts_with_any(name, kWaits);
}

// Whether only the host that is shipped with a program calls the function. Other hosts use hostfxr_initialize_for_….
bool is_for_shipped_host(std::string_view name) { return name.starts_with("hostfxr_main"); }

}  // namespace

RuntimeFrames::RuntimeFrames(const Snapshot& snapshot) : runtime_(runtime_images(snapshot)) {
  add_images(snapshot.modules, snapshot.process);
}

RuntimeFrames::RuntimeFrames(const Recording& recording) : runtime_(runtime_images(recording)) {
  add_images(recording.modules, recording.process);
}

void RuntimeFrames::add_images(const std::vector<Module>& modules, const Process& process) {
  const std::string program = ascii_lower(process.path);
  for (const Module& module : modules) {
    images_.push_back(ascii_lower(module_name(module)));
    host_.push_back(images_.back() == "hostfxr.dll" || images_.back() == "hostpolicy.dll");
    program_.push_back(!program.empty() && ascii_lower(module.path) == program);
  }
}

RuntimeFrames::Part RuntimeFrames::part_of(const Frame& frame) const {
  if (frame.kind != FrameKind::native || frame.module == Frame::kNone || is_guess(frame.trust)) return Part::other;
  const auto module = static_cast<std::size_t>(frame.module);
  const std::string& image = images_[module];
  if ((image == "ntdll.dll" && frame.name == "RtlUserThreadStart") ||
      (image == "kernel32.dll" && frame.name == "BaseThreadInitThunk")) {
    return Part::system_start;
  }
  if (has_own_name(frame)) return Part::other;
  return runtime_[module] ? Part::runtime : host_[module] ? Part::host : Part::other;
}

std::vector<FoldedFrames> RuntimeFrames::of(const Stack& stack) const {
  std::vector<const Frame*> frames;
  std::vector<bool> marked;
  for (const StackFrame& frame : stack.frames) {
    frames.push_back(&frame);
    marked.push_back(is_marked(frame));
  }
  const std::vector<Run> runs = stack.runs();
  return fold(frames, marked, !runs.empty() && runs.back().end == RunEnd::root);
}

std::vector<FoldedFrames> RuntimeFrames::of(const std::vector<const Frame*>& frames) const {
  return fold(frames, {}, true);  // a gap at the end is not folded
}

std::vector<FoldedFrames> RuntimeFrames::fold(const std::vector<const Frame*>& frames, const std::vector<bool>& marked,
                                              bool reaches_root) const {
  // The part that each frame belongs to, from the leaf on. The program's own image counts as the host below the host's
  // frames.
  std::vector<Part> parts;
  bool below_host = false;
  for (const Frame* frame : frames) {
    const bool is_marked = !marked.empty() && marked[parts.size()];
    Part part = is_marked ? Part::other : part_of(*frame);
    if (part == Part::other && below_host && frame->kind == FrameKind::native && frame->module != Frame::kNone &&
        program_[static_cast<std::size_t>(frame->module)] && !has_own_name(*frame) && !is_marked &&
        !is_guess(frame->trust)) {
      part = Part::host;
    }
    below_host = part == Part::host && (below_host || is_for_shipped_host(frame->name));
    parts.push_back(part);
  }
  // An inlined call belongs to the frame into which it is inlined. That frame comes after the inlined call.
  for (std::size_t i = frames.size(); i-- > 1;) {
    if (frames[i - 1]->inline_depth != 0) parts[i - 1] = parts[i];
  }
  // The functions by which the system starts a thread count only at the root.
  std::size_t root = frames.size();
  while (reaches_root && root != 0 && parts[root - 1] == Part::system_start) --root;
  for (std::size_t i = 0; i < root; ++i) {
    if (parts[i] == Part::system_start) parts[i] = Part::other;
  }

  const auto leaf_run_end = std::ranges::find_if(frames, [](const Frame* frame) {
    return frame->kind == FrameKind::managed || frame->kind == FrameKind::gap;
  });
  const auto leaf_run = static_cast<std::size_t>(leaf_run_end - frames.begin());
  std::vector<FoldedFrames> found;
  for (std::size_t begin = 0; begin < frames.size();) {
    if (parts[begin] != Part::runtime && parts[begin] != Part::host) {
      ++begin;
      continue;
    }
    std::size_t end = begin;
    bool host = false;
    while (end < frames.size() && parts[end] != Part::other) host = parts[end++] == Part::host || host;
    const bool managed_above = begin != 0 && frames[begin - 1]->kind == FrameKind::managed;
    const bool to_root = end == frames.size() && root != frames.size();
    std::string role = "the runtime";
    if (to_root && managed_above && host) {
      role = "host start-up";
    } else if (to_root && managed_above && begins_thread(frames[begin - 1]->name)) {
      role = "thread start";
    } else if (end < frames.size() && frames[end]->kind == FrameKind::managed) {
      if (const std::string_view method = public_name(frames[end]->name); !method.empty()) {
        const bool waits = begin < leaf_run && is_system_wait(frames.front()->name);
        role = std::string(method) + (waits ? " waits in the runtime" : " in the runtime");
      }
    }
    if (end - begin >= kMin) found.push_back({begin, end - begin, std::move(role)});
    begin = end;
  }
  return found;
}

}  // namespace mixwalk
