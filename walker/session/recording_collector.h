#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "walker/model/recording_builder.h"
#include "walker/store/content_reader.h"

namespace mixwalk {

// Makes one Recording from the .mixwalk files that a target sends one after another. Each of them has its own numbers
// for modules, threads and frames. The bytes are not trusted.
class RecordingCollector {
 public:
  // Returns a native frame with its symbol as the last element, preceded by the calls inlined into it (symbolised(),
  // symbolise.h). Called once for each frame of each file that the target sends. `module` is the frame's.
  using Namer =
      std::function<std::vector<Frame>(Frame frame, const Module& module)>;

  // Gives a managed frame its line (ManagedLines). The frame belongs to `assembly`. Also called once for each frame of
  // each file.
  using Liner = std::function<void(Frame& frame, const Assembly& assembly)>;

  // Finds out the builds of modules and assemblies (Module::code_view, Assembly::pdb). Called once for each row of each
  // file. Either function may be empty.
  struct Identifier {
    std::function<void(Module& module)> module;
    std::function<void(Assembly& assembly)> assembly;
  };

  explicit RecordingCollector(Namer namer, Liner liner = {}, Identifier identifier = {})
      : namer_(std::move(namer)), liner_(std::move(liner)), identifier_(std::move(identifier)) {}

  // Takes whole records. Returns an empty text if they were taken, otherwise the reason why they are not valid, in one
  // line.
  std::string_view add(std::string_view bytes, bool new_file);

  // The names, tables and samples so far. The header's fields are set once the first bytes have come. The caller may
  // clear the samples after storing them.
  Recording& recording() noexcept { return builder_.recording(); }

  // To be called after the whole recording so far was stored. The recording then begins anew at the time at which the
  // previous piece ends (rounded to whole milliseconds), without samples and only with the tables of the file that is
  // being sent.
  void begin_piece();
  // Counts samples that the target took, but that never arrived.
  void add_lost(std::uint64_t samples);
  // How many samples of all pieces the target did not take, or never arrived.
  std::uint64_t dropped() const noexcept { return dropped_; }

 private:
  void clear_numbers();
  void take_over();
  void add_frames(const std::vector<Frame>& from);
  std::vector<Frame> named(Frame frame);
  void add_node(const Recording::Node& node);

  Namer namer_;
  Liner liner_;
  Identifier identifier_;
  RecordingBuilder builder_;
  std::optional<ContentReader> reader_;  // reads the file that is being sent
  bool begun_ = false;
  std::uint64_t dropped_ = 0;         // for all files
  std::uint64_t dropped_before_ = 0;  // how many of dropped_ belong to earlier files
  std::uint64_t dropped_stored_ = 0;  // how many of dropped_ belong to earlier pieces
  std::uint64_t piece_begin_ns_ = 0;  // in whole milliseconds
  // Our number for each number of the file.
  std::vector<std::uint32_t> modules_, assemblies_, threads_, details_, nodes_;
  // One frame of the file may become several of ours, innermost first. They are in frames_, from the end of the
  // previous frame up to the frame's entry in frame_ends_.
  std::vector<std::uint32_t> frames_, frame_ends_;
  std::vector<std::uint32_t> inlined_;  // for each node of the file: the inlined calls from it to the root
};

}  // namespace mixwalk
