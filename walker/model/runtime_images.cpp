#include "walker/model/runtime_images.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "unmanaged/ascii_lower.h"

namespace mixwalk {
namespace {

constexpr std::array<std::string_view, 6> kRuntimeImages = {
    "coreclr.dll", "clrjit.dll", "clrgc.dll", "clr.dll", "mscoreei.dll", "mscoree.dll"};

// Which managed code runs. Of a program or a library that NativeAOT compiled, the runtime is a part of the image.
struct ManagedCode {
  bool of_clr = false;
  std::vector<std::int32_t> images;  // of methods that NativeAOT may have compiled

  void add(const Frame& frame) {
    if (frame.kind != FrameKind::managed) return;
    if (frame.function != 0 || frame.il.assembly != Frame::kNone || frame.module == Frame::kNone) {
      of_clr = true;
    } else {
      images.push_back(frame.module);
    }
  }
};

std::vector<bool> runtime_images(const std::vector<Module>& modules, const Process& process,
                                 const ManagedCode& managed) {
  std::vector<bool> is_runtime;
  bool separate = false;
  for (const Module& module : modules) {
    const std::string name = ascii_lower(module_name(module));
    separate = separate || name == "coreclr.dll" || name == "clr.dll";
    is_runtime.push_back(std::ranges::find(kRuntimeImages, name) != kRuntimeImages.end());
  }
  if (separate) return is_runtime;
  for (const std::int32_t image : managed.images) is_runtime[static_cast<std::size_t>(image)] = true;
  if (!managed.of_clr) return is_runtime;
  // A program in one file.
  const std::string program = ascii_lower(process.path);
  for (std::size_t i = 0; i < is_runtime.size(); ++i) {
    if (ascii_lower(modules[i].path) == program) is_runtime[i] = true;
  }
  return is_runtime;
}

}  // namespace

std::vector<bool> runtime_images(const Recording& recording) {
  ManagedCode managed;
  for (const Frame& frame : recording.frames) managed.add(frame);
  return runtime_images(recording.modules, recording.process, managed);
}

std::vector<bool> runtime_images(const Snapshot& snapshot) {
  ManagedCode managed;
  for (const Thread& thread : snapshot.threads) {
    for (const Frame& frame : thread.stack.frames) managed.add(frame);
  }
  return runtime_images(snapshot.modules, snapshot.process, managed);
}

}  // namespace mixwalk
