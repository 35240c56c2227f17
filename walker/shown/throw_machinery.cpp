#include "walker/shown/throw_machinery.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "unmanaged/ascii_lower.h"
#include "walker/model/runtime_images.h"

namespace mixwalk {
namespace {

bool is_dispatch_class(std::string_view method) {
  return method.starts_with("System.Runtime.EH.") || method.starts_with("System.Runtime.EH+");
}

// The functions at which the system begins to look for an exception handler. They are exports, so they have names.
// Windows exports the first one as KiUserExceptionDispatcher and calls it KiUserExceptionDispatch.
bool begins_dispatch(std::string_view name) {
  constexpr std::array<std::string_view, 4> kBegins = {
      "KiUserExceptionDispatcher", "KiUserExceptionDispatch", "RtlRaiseException",
      "RaiseException"};
  return std::ranges::find(kBegins, name) != kBegins.end();
}

}  // namespace

ThrowMachinery::ThrowMachinery(const Recording& recording) {
  const std::vector<bool> is_runtime = runtime_images(recording);
  std::vector<std::string> images;
  for (const Module& module : recording.modules) images.push_back(ascii_lower(module_name(module)));
  for (const Frame& frame : recording.frames) {
    const bool in_image = frame.module != Frame::kNone;
    const auto image = static_cast<std::size_t>(in_image ? frame.module : 0);
    Part part = Part::other;
    if (frame.kind == FrameKind::managed) {
      // Code that was jitted again is in no image, so only its name can be checked.
      const bool in_library = !in_image || images[image] == "system.private.corelib.dll" ||
                              is_runtime[image];
      if (in_library && is_dispatch_class(frame.name)) part = Part::runtime;
    } else if (frame.kind == FrameKind::native && in_image) {
      if (is_runtime[image]) {
        part = Part::runtime;
      } else if (images[image] == "ntdll.dll" || images[image] == "kernelbase.dll") {
        part = begins_dispatch(frame.name) ? Part::system_begins : Part::system;
      }
    }
    parts_.push_back(part);
    managed_.push_back(frame.kind == FrameKind::managed);
  }
}

std::size_t ThrowMachinery::frames_of(std::span<const std::uint32_t> frames) const {
  std::size_t end = 0;
  while (end < frames.size() && parts_[frames[end]] == Part::runtime) {
    ++end;
    // The system's dispatch is below a frame of the runtime. A system function that calls the dispatch may be the one
    // that faulted, so it is kept.
    for (std::size_t i = end; i < frames.size(); ++i) {
      const Part part = parts_[frames[i]];
      if (part == Part::system_begins) end = i + 1;
      if (part != Part::system && part != Part::system_begins) break;
    }
  }
  const bool managed_is_left =
      std::any_of(frames.begin() + static_cast<std::ptrdiff_t>(end), frames.end(),
                  [this](std::uint32_t frame) { return managed_[frame]; });
  return managed_is_left ? end : 0;
}

}  // namespace mixwalk
