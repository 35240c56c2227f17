#pragma once

#include <functional>
#include <string>

#include "walker/shown/frame_selection.h"

namespace mixwalk {

// How a dump or a recording is written. Each format takes what it has room for.
struct ShowOptions {
  // Of dumps; a recording is filtered by its caller, but `all` says whether a page folds the frames of the runtime
  // itself.
  FrameFilter filter;
  std::string note;     // a sentence that a page begins with, such as that the file was cut off; empty for none
  bool colour = false;  // ANSI escapes in text
  // Returns the call instruction before the return address of a frame in an image, or an empty text if it is not known.
  // Text shows it under the frame. If this is null, no calls are shown.
  std::function<std::string(const Frame&)> call_text;
};

}  // namespace mixwalk
