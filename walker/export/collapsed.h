#pragma once

#include "walker/base/byte_sink.h"
#include "walker/export/shown_recording.h"

namespace mixwalk {

struct CollapsedOptions {
  // The marks of async-profiler, from which flame graphs take their colours: `_[j]` after managed frames, `_[i]` after
  // inlined ones.
  bool annotate = true;
  bool threads = false;  // the thread is the first frame of its stacks
};

// Folded stacks, one per line, root first: `root;caller;leaf 42`, from which flame graphs are made. The number is the
// sum of Sample::value, at most 2^64 - 1. The lines are in the order in which their stacks first occurred. Characters
// that would end a frame or a line (`;`, controls) become `\xNN` or `\uNNNN`.
bool write_collapsed(const ShownRecording& shown, ByteSink& sink, const CollapsedOptions& options = {});

}  // namespace mixwalk
