#include "walker/model/runtime_images.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "unmanaged/ascii_lower.h"

namespace mixwalk {
namespace {

constexpr std::array<std::string_view, 6> kRuntimeImages = {
    "coreclr.dll", "clrjit.dll", "clrgc.dll", "clr.dll", "mscoreei.dll", "mscoree.dll"};

std::vector<bool> runtime_images(const std::vector<Module>& modules, const Process& process,
                                 bool runs_managed) {
  std::vector<bool> is_runtime;
  bool separate = false;
  for (const Module& module : modules) {
    const std::string name = ascii_lower(module_name(module));
    separate = separate || name == "coreclr.dll" || name == "clr.dll";
    is_runtime.push_back(std::ranges::find(kRuntimeImages, name) != kRuntimeImages.end());
  }
  if (separate || !runs_managed) return is_runtime;
  const std::string program = ascii_lower(process.path);
  for (std::size_t i = 0; i < is_runtime.size(); ++i) {
    if (ascii_lower(modules[i].path) == program) is_runtime[i] = true;
  }
  return is_runtime;
}

bool is_managed(FrameKind kind) noexcept { return kind == FrameKind::managed; }

}  // namespace

std::vector<bool> runtime_images(const Recording& recording) {
  const bool managed = std::ranges::any_of(recording.frames, is_managed, &Frame::kind);
  return runtime_images(recording.modules, recording.process, managed);
}

std::vector<bool> runtime_images(const Snapshot& snapshot) {
  const bool managed = std::ranges::any_of(snapshot.threads, [](const Thread& thread) {
    return std::ranges::any_of(thread.stack.frames, is_managed, &Frame::kind);
  });
  return runtime_images(snapshot.modules, snapshot.process, managed);
}

}  // namespace mixwalk
