#pragma once

#include "walker/export/recording_exporter.h"

namespace mixwalk {

// Folded stacks, one per line, root first: `root;caller;leaf 42`, from which flame graphs are made. The number is the
// sum of Sample::value, at most 2^64 - 1. The lines are in the order in which their stacks first occurred. Characters
// that would end a frame or a line (`;`, controls) become `\xNN` or `\uNNNN`.
class CollapsedExporter final : public RecordingExporter {
 public:
  struct Options {
    // The marks of async-profiler, from which flame graphs take their colours: `_[j]` after managed frames, `_[i]`
    // after inlined ones.
    bool annotate = true;
    bool threads = false;  // the thread is the first frame of its stacks
  };
  explicit CollapsedExporter(const Options& options) : options_(options) {}

  bool write(const Recording& recording, ByteSink& sink) const override;

 private:
  Options options_;
};

}  // namespace mixwalk
