#include "walker/report/report_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "walker/shown/words.h"

namespace mixwalk {
ReportTables::Row ReportTables::row(const ShownStacks& stacks, const ShownStacks::Frame& frame) {
  if (frame.frame == nullptr) return {'W', string(frame.label), 0, 0, 0, 0, 0, 0, 0};
  const Frame& from = *frame.frame;
  std::string label(frame.plain_label());  // the page itself marks guesses
  unsigned flags = 0;
  if (is_guess(from.trust)) {
    flags |= static_cast<unsigned>(from.trust == Trust::scan ? Flag::scanned : Flag::frame_pointer);
  }
  if (from.line_approximate) flags |= static_cast<unsigned>(Flag::approximate);
  if (from.inline_depth != 0) flags |= static_cast<unsigned>(Flag::inlined);
  if (from.folded > 1) label += fmt::format(" (one of {})", from.folded);
  const bool named = from.kind == FrameKind::native && !from.name.empty();
  return {letter(from.kind), string(label), string(stacks.image(from)), string(from.file), from.line, flags,
          named ? from.displacement : 0, from.address, string(from.source_url)};
}

std::vector<std::uint32_t> ReportTables::add(const ShownStacks& stacks, const ShownStacks::Paths& paths,
                                             const std::vector<std::uint32_t>& leaves) {
  std::vector<std::uint32_t> frames, nodes;
  frames.reserve(stacks.frames().size());
  for (const ShownStacks::Frame& frame : stacks.frames()) {
    const Row added = row(stacks, frame);
    const auto [at, is_new] = known_rows_.emplace(added, static_cast<std::uint32_t>(rows_.size()));
    if (is_new) rows_.push_back(added);
    frames.push_back(at->second);
  }
  std::vector<bool> wanted(paths.nodes.size());
  for (const std::uint32_t leaf : leaves) wanted[leaf] = true;
  for (std::size_t i = wanted.size(); i-- > 0;) {
    if (wanted[i] && paths.nodes[i].parent != Recording::kNone) wanted[paths.nodes[i].parent] = true;
  }
  nodes.reserve(paths.nodes.size());
  for (const Recording::Node& node : paths.nodes) {
    if (!wanted[nodes.size()]) {
      nodes.push_back(Recording::kNone);
      continue;
    }
    const std::uint32_t parent = node.parent == Recording::kNone ? Recording::kNone : nodes[node.parent];
    nodes.push_back(add_node(parent, frames[node.frame]));
  }
  return nodes;
}

std::vector<std::uint32_t> ReportTables::add(const ShownStacks& stacks, const ShownStacks::Paths& paths) {
  const std::vector<std::uint32_t> nodes = add(stacks, paths, paths.leaves);
  std::vector<std::uint32_t> leaves;
  leaves.reserve(paths.leaves.size());
  for (const std::uint32_t leaf : paths.leaves) leaves.push_back(nodes[leaf]);
  return leaves;
}

std::uint32_t ReportTables::add_node(std::uint32_t parent, std::uint32_t frame) {
  const std::uint64_t key = std::uint64_t{parent} << 32 | frame;
  const auto [at, is_new] = known_nodes_.emplace(key, static_cast<std::uint32_t>(nodes_.size()));
  if (is_new) nodes_.push_back({parent, frame});
  return at->second;
}

void ReportTables::write(JsonWriter& json) const {
  json.array("strings", strings_.strings(), [&](const std::string& text) { json.value(text); });
  json.key("frames");
  json.begin_object();
  std::string kinds;
  for (const Row& row : rows_) kinds += std::get<0>(row);
  json.field("kind", kinds);
  json.array("label", rows_, [&](const Row& row) { json.value(std::get<1>(row)); });
  json.array("module", rows_, [&](const Row& row) { json.value(std::get<2>(row)); });
  json.array("file", rows_, [&](const Row& row) { json.value(std::get<3>(row)); });
  json.array("line", rows_, [&](const Row& row) { json.value(std::get<4>(row)); });
  json.array("flags", rows_, [&](const Row& row) { json.value(std::get<5>(row)); });
  json.array("offset", rows_, [&](const Row& row) { json.value(std::get<6>(row)); });
  // Addresses are written as text, because JavaScript's numbers lose the last bits.
  json.array("address", rows_, [&](const Row& row) {
    json.value(std::get<7>(row) == 0 ? std::string() : fmt::format("{:x}", std::get<7>(row)));
  });
  // Few recordings have URLs.
  if (std::ranges::any_of(rows_, [](const Row& row) { return std::get<8>(row) != 0; })) {
    json.array("url", rows_, [&](const Row& row) { json.value(std::get<8>(row)); });
  }
  json.end_object();
  json.key("nodes");
  json.begin_object();
  json.array("frame", nodes_, [&](const Recording::Node& node) { json.value(node.frame); });
  // How far before the node its caller is. This is a small number, so it takes few digits. 0 for a root.
  std::size_t place = 0;
  json.array("up", nodes_, [&](const Recording::Node& node) {
    json.value(node.parent == Recording::kNone ? std::size_t{0} : place - node.parent);
    ++place;
  });
  json.end_object();
}

}  // namespace mixwalk
