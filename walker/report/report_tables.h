#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "walker/export/json_writer.h"
#include "walker/export/string_table.h"
#include "walker/shown/shown_stacks.h"

namespace mixwalk {

// The parts of a report's stacks, each stored once: strings, frames, and nodes. A stack is the path of nodes from its
// leaf to the root. Several recordings may share one object.
class ReportTables {
 public:
  // The node of a sample without a stack.
  static constexpr std::int64_t kNoStack = -1;

  // Returns the index in these tables of each node of `paths`, which are `stacks.whole()` or `stacks.folded()`.
  // `leaves`: only the stacks of these nodes are added; the other nodes have no index.
  std::vector<std::uint32_t> add(const ShownStacks& stacks, const ShownStacks::Paths& paths,
                                 const std::vector<std::uint32_t>& leaves);
  // Adds all stacks. Returns the index of each of `paths.leaves`.
  std::vector<std::uint32_t> add(const ShownStacks& stacks, const ShownStacks::Paths& paths);
  std::uint32_t string(std::string_view text) { return strings_.index(text); }

  // Writes the members "strings", "frames" and "nodes" of the report. They are written last, since everything else adds
  // to them.
  void write(JsonWriter& json) const;

 private:
  enum class Flag : std::uint8_t {
    scanned = 1,        // guessed: Trust::scan
    frame_pointer = 2,  // guessed: Trust::frame_pointer
    approximate = 4,    // Frame::line_approximate
    inlined = 8,
  };
  // A row has a kind ('M', 'N', 'S', 'G', or 'W' for a word in a frame's place), label, module and file (indices of
  // strings), line, flags, bytes after the symbol's start, address, and the file's URL (an index of strings).
  using Row = std::tuple<char, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, unsigned, std::uint64_t,
                         std::uint64_t, std::uint32_t>;

  Row row(const ShownStacks& stacks, const ShownStacks::Frame& frame);
  std::uint32_t add_node(std::uint32_t parent, std::uint32_t frame);

  StringTable strings_;
  std::vector<Row> rows_;
  std::map<Row, std::uint32_t> known_rows_;
  std::vector<Recording::Node> nodes_;
  std::unordered_map<std::uint64_t, std::uint32_t> known_nodes_;  // parent << 32 | frame
};

}  // namespace mixwalk
