#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "walker/model/recording.h"

namespace mixwalk {

// The frame, or the name of a thread, by which an export of a recording without samples says so.
// Programs that open exports refuse a file, or fail, if the file has no stack or no thread at all.
inline constexpr std::string_view kNoSamples = "[no samples]";

// The stacks of a recording in the form in which its exports show them. Every sample has a stack, so that a format of
// stacks only loses no sample: a sample without a stack gets a frame "[no stack: …]". The type that was thrown,
// allocated or loaded is a frame on top of its stack. Refers to the recording.
class RecordedStacks {
 public:
  struct Frame {
    std::string label;                     // UTF-8
    const mixwalk::Frame* frame = nullptr;  // null if the entry is a word in a frame's place

    // The label without kGuessedMark.
    std::string_view plain_label() const;
    // The name by which the metadata or the symbols know the function, if the label is another one.
    // Otherwise empty: pprof takes a label that is also the system's name for a C++ name, strips
    // everything in "(…)" and "<…>", and merges the overloads of a method and the instantiations of
    // a generic type.
    std::string_view system_name() const;
    // Returns false for code of an image without a name, of which only the address is known.
    bool named() const noexcept {
      return frame == nullptr || frame->kind != FrameKind::native || !frame->name.empty() ||
             frame->module == mixwalk::Frame::kNone;
    }
    // Returns false if a reader that has the image's symbols can find a better name than the label.
    bool has_symbol() const noexcept {
      return named() && (frame == nullptr || frame->symbol != SymbolKind::function_table);
    }
  };

  // `fold`: frames of the runtime itself that have no name (RuntimeFrames) are one frame "[thread start]", as in text.
  // The nodes are then others than those of the recording.
  explicit RecordedStacks(const Recording& recording, bool fold = false);

  const std::vector<Frame>& frames() const noexcept { return frames_; }
  // These nodes are as Recording::nodes, and, unless they are folded, have the same indices: a parent comes before its
  // children.
  const std::vector<Recording::Node>& nodes() const noexcept { return nodes_; }
  // The leaf node of each of Recording::samples.
  const std::vector<std::uint32_t>& leaves() const noexcept { return leaves_; }

 private:
  void keep_methods_apart(const Recording& recording);
  std::vector<std::uint32_t> fold_stacks(const Recording& recording);

  std::vector<Frame> frames_;
  std::vector<Recording::Node> nodes_;
  std::vector<std::uint32_t> leaves_;
};

// For each node, the index of the first node with an equal stack. Stacks are equal if they have the same frames, by
// index in `frames`, from the node to the root. The result is indexed by node.
std::vector<std::uint32_t> equal_nodes(const std::vector<Recording::Node>& nodes,
                                       const std::vector<std::uint32_t>& frames);

// The leaf of each sample together with the sample's standing, as one number. Samples of one stack have one standing,
// unless a filter has left out the frames in which they differ.
std::vector<std::uint32_t> standing_leaves(const Recording& recording, const std::vector<std::uint32_t>& leaves);
constexpr std::uint32_t leaf_in(std::uint32_t standing_leaf) noexcept { return standing_leaf / 4; }
constexpr Standing standing_in(std::uint32_t standing_leaf) noexcept { return static_cast<Standing>(standing_leaf % 4); }

// For each thread, by its index, its samples in order, as indices into `recording.samples`.
std::vector<std::vector<std::uint32_t>> samples_by_thread(const Recording& recording);

// The sums over samples of one thread and stack.
struct SampleSum {
  std::uint32_t thread = 0;  // index into Recording::threads
  std::uint32_t stack = 0;   // an element of `stacks` (sum_samples())
  std::uint64_t count = 0;
  std::uint64_t value = 0;  // the sum of Sample::value; no more than 2^64 - 1
};
// The sums, in the order in which the stacks were met. `stacks`: the stack of each sample. If they are not by thread,
// all sums are under thread 0.
std::vector<SampleSum> sum_samples(const Recording& recording,
                                   const std::vector<std::uint32_t>& stacks, bool by_thread);

// "Orders worker", or "thread 0x1a4" if the thread has no name. UTF-8.
std::string thread_label(const Recording::ThreadInfo& thread);

}  // namespace mixwalk
