#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "walker/model/recording.h"
#include "walker/model/recording_builder.h"
#include "walker/shown/frame_selection.h"
#include "walker/shown/runtime_frames.h"

namespace mixwalk {

// The frame, or the name of a thread, by which an export of a recording without samples says so.
// Programs that open exports refuse a file, or fail, if the file has no stack or no thread at all.
inline constexpr std::string_view kNoSamples = "[no samples]";

// The stacks of a recording, or of a dump's threads, in the form in which formats show them, each part stored once.
// Every sample has a stack, so that a format of stacks only loses no sample: a sample without a stack gets a frame
// "[no stack: …]". The type that was thrown, allocated or loaded is a frame on top of its stack. Refers to the
// recording or dump.
class ShownStacks {
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

  struct Paths {
    std::vector<Recording::Node> nodes;  // Node::frame is an index into frames(); a parent comes before its children
    std::vector<std::uint32_t> leaves;   // the leaf node of each of Recording::samples, or of Snapshot::threads
  };

  // `fold`: folded() has frames of the runtime itself that have no name (RuntimeFrames) as one frame "[thread start]",
  // as in text.
  explicit ShownStacks(const Recording& recording, bool fold = false);
  // The stacks that the filter leaves. folded() folds frames unless the filter shows all.
  ShownStacks(const Snapshot& dump, const FrameFilter& filter);

  const std::vector<Frame>& frames() const noexcept { return frames_; }
  const Paths& whole() const noexcept { return whole_; }
  const Paths& folded() const noexcept { return folds_ ? folded_ : whole_; }
  // Those of whole(). For a recording, the first nodes are Recording::nodes.
  const std::vector<Recording::Node>& nodes() const noexcept { return whole_.nodes; }
  const std::vector<std::uint32_t>& leaves() const noexcept { return whole_.leaves; }
  // Whether a thread of a dump has a stack.
  bool has_stack(std::size_t thread) const { return frames_[nodes()[leaves()[thread]].frame].frame != nullptr; }

  // The file name of the image or assembly that has the code of one of the frames; empty if it is not known.
  std::string_view image(const mixwalk::Frame& frame) const;

 private:
  void label_frames();
  std::vector<std::uint32_t> folded(const std::vector<std::uint32_t>& frames, const RuntimeFrames& runtime_frames);
  void add_words(const std::vector<std::uint32_t>& words, const std::vector<std::string>& texts, bool moments,
                 Paths& paths);

  const std::vector<Module>& modules_;
  const std::vector<Assembly>& assemblies_;
  const bool folds_;
  std::vector<Frame> frames_;
  std::unordered_map<std::string, std::uint32_t> roles_;  // of folded frames, with the frame of each
  Paths whole_, folded_;
};

// For each node, the index of the first node with an equal stack. Stacks are equal if they have the same frames, by
// index in `frames`, from the node to the root. The result is indexed by node.
std::vector<std::uint32_t> equal_nodes(const std::vector<Recording::Node>& nodes,
                                       const std::vector<std::uint32_t>& frames);

// The leaf of each sample together with the sample's standing, as one number. Samples of one stack have one standing,
// unless a filter has left out the frames in which they differ.
std::vector<std::uint32_t> standing_leaves(const Recording& recording, const std::vector<std::uint32_t>& leaves);
constexpr std::uint32_t leaf_in(std::uint32_t standing_leaf) noexcept { return standing_leaf / 4; }
constexpr Standing standing_in(std::uint32_t standing_leaf) noexcept {
  return static_cast<Standing>(standing_leaf % 4);
}

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
