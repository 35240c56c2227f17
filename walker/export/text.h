#pragma once

#include <functional>
#include <string>

#include "walker/export/exporter.h"

namespace mixwalk {

// Stacks as a person reads them, one frame per line. Names are untrusted: what could move a terminal's cursor is
// escaped (printable.h), and no name takes more than kMaxNameBytes.
class TextExporter final : public Exporter {
 public:
  static constexpr std::size_t kMaxNameBytes = 1000;
  static constexpr std::size_t kMaxLocks = 20;  // that are listed of one thread

  struct Options {
    bool colour = false;  // ANSI escapes
    FrameFilter filter;
    // The call instruction before the return address of a frame in an image, which is shown under the frame; empty
    // text: it is not known. Is null if no calls are shown.
    std::function<std::string(const Frame&)> call_text;
  };
  explicit TextExporter(const Options& options) : options_(options) {}

  bool write(const Snapshot& snapshot, ByteSink& sink) const override;

 private:
  Options options_;
};

}  // namespace mixwalk
