#include "walker/model/runtime_images.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "unmanaged/image/ascii_lower.h"

namespace mixwalk {
namespace {

constexpr std::array<std::string_view, 6> kRuntimeImages = {
    "coreclr.dll", "clrjit.dll", "clrgc.dll", "clr.dll", "mscoreei.dll", "mscoree.dll"};

}  // namespace

std::vector<bool> runtime_images(const Recording& recording) {
  std::vector<bool> is_runtime;
  bool separate = false;
  for (const Module& module : recording.modules) {
    const std::string name = ascii_lower(module_name(module));
    separate = separate || name == "coreclr.dll" || name == "clr.dll";
    is_runtime.push_back(std::ranges::find(kRuntimeImages, name) != kRuntimeImages.end());
  }
  if (separate || std::ranges::none_of(recording.frames, [](const RecordedFrame& frame) {
        return frame.kind == FrameKind::managed;
      })) {
    return is_runtime;
  }
  const std::string program = ascii_lower(recording.process.path);
  for (std::size_t i = 0; i < is_runtime.size(); ++i) {
    if (ascii_lower(recording.modules[i].path) == program) is_runtime[i] = true;
  }
  return is_runtime;
}

}  // namespace mixwalk
