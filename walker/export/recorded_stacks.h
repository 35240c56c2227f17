#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "walker/model/recording.h"

namespace mixwalk {

// The stacks of a recording as its exports show them. Every sample has a stack, so that a format that knows only stacks
// loses none: a sample without a stack gets a frame "[no stack: …]". The type that was thrown, allocated or loaded is a
// frame on top of its stack. Refers to the recording.
class RecordedStacks {
 public:
  struct Frame {
    std::string label;                     // UTF-8
    const RecordedFrame* frame = nullptr;  // null means a word in a frame's place

    // The label without kGuessedMark.
    std::string_view plain_label() const;
    // Returns false if code of an image, without a name. Its address is all that is known.
    bool named() const noexcept {
      return frame == nullptr || frame->kind != FrameKind::native || !frame->name.empty() ||
             frame->module == mixwalk::Frame::kNone;
    }
    // Returns false if a reader that has the image's symbols can find a better name than the label.
    bool has_symbol() const noexcept {
      return named() && (frame == nullptr || frame->symbol != SymbolKind::function_table);
    }
  };

  explicit RecordedStacks(const Recording& recording);

  const std::vector<Frame>& frames() const noexcept { return frames_; }
  // As Recording::nodes, whose indices they keep: a parent comes before its children.
  const std::vector<Recording::Node>& nodes() const noexcept { return nodes_; }
  // The leaf node of each of Recording::samples.
  const std::vector<std::uint32_t>& leaves() const noexcept { return leaves_; }

 private:
  void keep_methods_apart(const Recording& recording);

  std::vector<Frame> frames_;
  std::vector<Recording::Node> nodes_;
  std::vector<std::uint32_t> leaves_;
};

// For each node, the index of the first node with the same stack: with the same frames, by their index in `frames`,
// from the node to the root. Indexed by node.
std::vector<std::uint32_t> equal_nodes(const std::vector<Recording::Node>& nodes,
                                       const std::vector<std::uint32_t>& frames);

// The samples of each thread, in order: indices into `recording.samples`, by index of the thread.
std::vector<std::vector<std::uint32_t>> samples_by_thread(const Recording& recording);

// What samples of one thread and stack add up to.
struct SampleSum {
  std::uint32_t thread = 0;  // index into Recording::threads
  std::uint32_t stack = 0;   // as `stacks` says
  std::uint64_t count = 0;
  std::uint64_t value = 0;  // of Sample::value; no more than 2^64 - 1
};
// The result is in the order in which the stacks were met. `stacks`: the stack of each sample. Not by thread: all under
// thread 0.
std::vector<SampleSum> sum_samples(const Recording& recording,
                                   const std::vector<std::uint32_t>& stacks, bool by_thread);

// "Orders worker", or "thread 0x1a4" where it has no name. UTF-8.
std::string thread_label(const Recording::ThreadInfo& thread);

}  // namespace mixwalk
