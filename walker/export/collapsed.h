#pragma once

#include "walker/export/recording_exporter.h"

namespace mixwalk {

// Folded stacks, one a line, root first: `root;caller;leaf 42`, as flame graphs are made of them.
// The number is the sum of Sample::value, no more than 2^64 - 1. Lines are in the order in which
// their stacks were met. What could end a frame or a line (`;`, controls) is `\xNN` or `\uNNNN`.
class CollapsedExporter final : public RecordingExporter {
 public:
  struct Options {
    // Marks of async-profiler, by which flame graphs are coloured: `_[j]` behind managed frames,
    // `_[i]` behind inlined ones.
    bool annotate = true;
    bool threads = false;  // the thread is the first frame of its stacks
  };
  explicit CollapsedExporter(const Options& options) : options_(options) {}

  bool write(const Recording& recording, ByteSink& sink) const override;

 private:
  Options options_;
};

}  // namespace mixwalk
