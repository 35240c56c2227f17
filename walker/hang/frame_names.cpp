#include "walker/hang/frame_names.h"

#include <algorithm>
#include <array>

#include "symbols/clr_stub.h"
#include "symbols/demangle/demangle.h"
#include "symbols/demangle/managed_name.h"
#include "unmanaged/ascii_lower.h"
#include "walker/base/utf8.h"
#include "walker/model/runtime_images.h"

namespace mixwalk {
namespace {

// Names are as long as the target wants. The parts that rules look for are within this many bytes.
constexpr std::size_t kMaxRead = 4096;

bool starts_with_any(std::string_view text, auto const& beginnings) {
  return std::ranges::any_of(beginnings, [text](std::string_view begin) { return text.starts_with(begin); });
}

// Used if a dump's path does not help (another system's separator, or a name without a path).
constexpr std::array<std::string_view, 26> kSystemImages = {
    "ntdll",  "kernel32", "kernelbase", "user32",   "win32u",   "gdi32",    "ws2_32",   "mswsock", "combase",
    "ole32",  "oleaut32", "rpcrt4",     "ucrtbase", "msvcrt",   "advapi32", "sechost",  "bcrypt",  "crypt32",
    "shell32", "winhttp", "wininet",    "msvcp140", "vcruntime140", "vcruntime140_1", "hostfxr", "hostpolicy"};

// How many bytes of a name a sentence shows.
constexpr std::size_t kMaxShown = 200;

}  // namespace

std::string clipped(std::string_view name) {
  if (name.size() <= kMaxShown) return std::string(name);
  return std::string(cut_text(name, kMaxShown)) + "…";
}

bool has_method(const Thread& thread, std::string_view begin) {
  return std::ranges::any_of(thread.stack.frames, [&](const Frame& frame) {
    return frame.kind == FrameKind::managed && frame.name.starts_with(begin);
  });
}

// CancellationTokenSource.cs of .NET 8 to 10 (public). The last two run in a SynchronizationContext; the JIT may make
// one method of them.
bool runs_cancellation_callbacks(const Frame& frame) noexcept {
  constexpr std::string_view kRunners[] = {"System.Threading.CancellationTokenSource.ExecuteCallbackHandlers(",
                                           "System.Threading.CancellationTokenSource+CallbackNode.ExecuteCallback(",
                                           "System.Threading.CancellationTokenSource+<>c.<ExecuteCallbackHandlers>"};
  return frame.kind == FrameKind::managed &&
         std::ranges::any_of(kRunners, [&](std::string_view begin) { return frame.name.starts_with(begin); });
}

std::string method_of(std::string_view name) {
  name = name.substr(0, kMaxRead);
  std::string method;
  std::size_t depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (depth == 0 && c == '(') break;
    const bool begins_name = method.empty() || method.back() == '.' || method.back() == '+';
    if (c == '<' && (depth != 0 || !begins_name)) {
      ++depth;
    } else if (c == '>' && depth != 0) {
      --depth;
    } else if (depth == 0) {
      method += c;
    }
  }
  return method;
}

FrameNames::FrameNames(const Snapshot& snapshot) : snapshot_(snapshot), runtime_(runtime_images(snapshot)) {
  const ManagedImages images(snapshot, runtime_);
  for (const Module& module : snapshot.modules) {
    std::string name = ascii_lower(module_name(module));
    if (name.ends_with(".dll")) name.resize(name.size() - 4);
    const std::string path = comparable_path(module.path);
    constexpr std::array<std::string_view, 3> kFolders = {"\\windows\\system32\\", "\\windows\\syswow64\\",
                                                          "\\windows\\winsxs\\"};
    const bool in_windows = std::ranges::any_of(
        kFolders, [&](std::string_view folder) { return path.find(folder) != std::string::npos; });
    system_.push_back(in_windows || std::ranges::find(kSystemImages, name) != kSystemImages.end());
    images_.push_back(std::move(name));
    owners_.push_back(images.owner_of(module.path));
  }
  for (const Assembly& assembly : snapshot.assemblies) assembly_owners_.push_back(images.owner_of(assembly.path));
}

std::string_view FrameNames::image(const Frame& frame) const {
  if (frame.module == Frame::kNone) return {};
  return images_[static_cast<std::size_t>(frame.module)];
}

bool FrameNames::system(const Frame& frame) const {
  if (frame.kind != FrameKind::native || frame.module == Frame::kNone) return false;
  const auto module = static_cast<std::size_t>(frame.module);
  return system_[module] || runtime_[module];
}

bool FrameNames::runtime(const Frame& frame) const {
  return frame.kind == FrameKind::native && frame.module != Frame::kNone &&
         runtime_[static_cast<std::size_t>(frame.module)];
}

bool FrameNames::library(const Frame& frame) const {
  if (frame.kind != FrameKind::managed || frame.name.empty()) return false;
  const auto assembly = static_cast<std::size_t>(frame.il.assembly);
  CodeOwner owner = CodeOwner::unknown;
  if (frame.il.assembly >= 0 && assembly < assembly_owners_.size()) owner = assembly_owners_[assembly];
  if (owner == CodeOwner::unknown && frame.module != Frame::kNone) {
    owner = owners_[static_cast<std::size_t>(frame.module)];
  }
  if (owner != CodeOwner::unknown) return owner == CodeOwner::dotnet;
  constexpr std::array<std::string_view, 7> kNamespaces = {"System.", "Microsoft.", "Interop+", "Interop.",
                                                           "Internal.", "MS.", "Windows."};
  // The methods that the dynamic language runtime makes for `dynamic` are in no assembly. A call may have one or two of
  // them.
  return frame.name == "CallSite.Target" || starts_with_any(frame.name, kNamespaces);
}

bool FrameNames::of_program(const Frame& frame) const {
  switch (frame.kind) {
    case FrameKind::managed: return !frame.name.empty() && !library(frame);
    case FrameKind::native: return frame.module != Frame::kNone && !system(frame);
    case FrameKind::stub:
    case FrameKind::gap: return false;
  }
  return false;
}

std::vector<std::uint32_t> significant_frames(const FrameNames& names, const std::vector<StackFrame>& frames,
                                              std::uint32_t first, std::size_t count) {
  std::vector<std::uint32_t> shown;
  for (std::uint32_t i = first; i < frames.size() && shown.size() < count; ++i) {
    if (i == first || frames[i].kind == FrameKind::stub || names.of_program(frames[i])) shown.push_back(i);
  }
  return shown;
}

std::string short_label(const Snapshot& snapshot, const Frame& frame) {
  const auto place = [&] {
    if (frame.module == Frame::kNone) return "code at " + hex(frame.address);
    const Module& module = snapshot.modules[static_cast<std::size_t>(frame.module)];
    return clipped(module_name(module)) + "!" +
           (frame.name.empty() ? hex(frame.address - module.base) : clipped(shortened(frame.name)));
  };
  switch (frame.kind) {
    case FrameKind::managed: return frame.name.empty() ? "managed " + place() : clipped(managed_name(frame.name));
    case FrameKind::native:
      return frame.module == Frame::kNone && !frame.name.empty() ? clipped(frame.name) : place();
    case FrameKind::stub: {
      const ClrStub stub = clr_stub(frame.name);
      const bool pinvoke = stub == ClrStub::pinvoke;
      const std::string what = pinvoke ? "P/Invoke" : stub == ClrStub::com_out ? "COM call" : "stub";
      if (frame.target.empty()) return what;
      return what + " " + clipped(pinvoke ? frame.target : managed_name(frame.target));
    }
    case FrameKind::gap: return "gap";
  }
  return {};
}

}  // namespace mixwalk
