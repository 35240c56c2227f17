#pragma once

#include <functional>
#include <string>

#include "walker/export/exporter.h"

namespace mixwalk {

// Stacks for a person, one frame per line. Names are untrusted, so characters that could move a terminal's cursor are
// escaped (printable.h), and no name takes more than kMaxNameBytes.
class TextExporter final : public Exporter {
 public:
  static constexpr std::size_t kMaxNameBytes = 1000;
  static constexpr std::size_t kMaxLocks = 20;  // the most locks that are listed for one thread

  struct Options {
    bool colour = false;  // ANSI escapes
    FrameFilter filter;
    // Returns the call instruction before the return address of a frame in an image, or an empty text if it is not
    // known. The instruction is shown under the frame. If this is null, no calls are shown.
    std::function<std::string(const Frame&)> call_text;
  };
  explicit TextExporter(const Options& options) : options_(options) {}

  bool write(const Snapshot& snapshot, ByteSink& sink) const override;

 private:
  Options options_;
};

}  // namespace mixwalk
