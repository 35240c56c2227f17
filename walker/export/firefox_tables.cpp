#include "walker/export/firefox_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "unmanaged/ascii_lower.h"
#include "walker/base/utf8.h"
#include "walker/model/runtime_images.h"

namespace mixwalk {
namespace {

// The limit for offsets; every image is smaller. In a damaged recording, a frame's address may be before the image that
// the frame names.
constexpr std::uint64_t kLastRva = 0xFFFF'FFFF;

bool is_in_image(const Frame& frame) { return frame.module != Frame::kNone; }

// The source file as the Profiler knows it: "git:github.com/OWNER/REPOSITORY:PATH:COMMIT", of which it shows the text
// and makes links. It reads no other URLs, so other files keep their path.
std::string source_name(const Frame& frame) {
  constexpr std::string_view kPlainFiles = "https://raw.githubusercontent.com/";
  std::string_view rest = frame.source_url;
  if (!rest.starts_with(kPlainFiles) || rest.find_first_of("?#:", kPlainFiles.size()) != rest.npos) return frame.file;
  rest.remove_prefix(kPlainFiles.size());
  const std::size_t owner = rest.find('/'), repository = rest.find('/', owner + 1);
  const std::size_t commit = repository == rest.npos ? rest.npos : rest.find('/', repository + 1);
  if (owner == rest.npos || commit == rest.npos) return frame.file;
  return fmt::format("git:github.com/{}:{}:{}", rest.substr(0, repository), rest.substr(commit + 1),
                     rest.substr(repository + 1, commit - repository - 1));
}

}  // namespace

FirefoxTables::FirefoxTables(const Recording& recording, const ShownStacks& stacks)
    : recording_(recording), is_runtime_(runtime_images(recording)) {
  for (const ShownStacks::Frame& frame : stacks.frames()) frames_.push_back(row(frame));
  add_standings(stacks);
}

// The category belongs to the frame's row, so the leaf of a thread that is idle or waits has a row of its own, and a
// node.
void FirefoxTables::add_standings(const ShownStacks& stacks) {
  nodes_ = stacks.nodes();
  std::unordered_map<std::uint64_t, std::uint32_t> rows, nodes;  // frame or leaf, and the category → the row or node
  for (std::size_t i = 0; i < stacks.leaves().size(); ++i) {
    std::uint32_t leaf = stacks.leaves()[i];
    const Standing standing = recording_.samples[i].standing;
    if (standing == Standing::idle || standing == Standing::waits) {
      const auto category = standing == Standing::idle ? FirefoxCategory::idle : FirefoxCategory::waiting;
      const auto key = [&](std::uint32_t index) { return std::uint64_t{index} << 8 | static_cast<unsigned>(category); };
      const auto [node, added] = nodes.try_emplace(key(leaf), static_cast<std::uint32_t>(nodes_.size()));
      if (added) {
        const std::uint32_t frame = nodes_[leaf].frame;
        const auto [row, fresh] = rows.try_emplace(key(frame), static_cast<std::uint32_t>(frames_.size()));
        if (fresh) {
          frames_.push_back(FrameRow(frames_[frame]));
          frames_.back().category = category;
        }
        nodes_.push_back({nodes_[leaf].parent, row->second});
      }
      leaf = node->second;
    }
    leaves_.push_back(leaf);
  }
}

FirefoxTables::FrameRow FirefoxTables::row(const ShownStacks::Frame& frame) {
  FrameRow row{.function = function(frame)};
  if (frame.frame == nullptr) return row;
  const Frame& recorded = *frame.frame;
  row.inline_depth = recorded.inline_depth;
  row.line = recorded.line;
  // An address belongs to the image of the frame's function. ReadyToRun code gets no address here, because when the
  // same function is jitted again, its code is in no image, and it must stay the same function.
  if (recorded.kind == FrameKind::native && is_in_image(recorded)) {
    const CodeAddress code{recorded.address, recorded.address_kind};
    const std::uint64_t rva = code.lookup() - module_of(recorded).base;
    if (rva <= kLastRva) row.address = static_cast<std::int64_t>(rva);
  }
  switch (recorded.kind) {
    case FrameKind::managed: row.category = FirefoxCategory::managed; break;
    case FrameKind::stub: row.category = FirefoxCategory::stub; break;
    case FrameKind::gap: break;
    case FrameKind::native:
      row.category = is_in_image(recorded) && is_runtime_[static_cast<std::size_t>(recorded.module)]
                         ? FirefoxCategory::runtime
                         : FirefoxCategory::native;
      row.native_symbol = native_symbol(recorded);
  }
  return row;
}

std::uint32_t FirefoxTables::function(const ShownStacks::Frame& frame) {
  const bool native_in_image = frame.frame != nullptr &&
                               frame.frame->kind == FrameKind::native && is_in_image(*frame.frame);
  const std::int32_t module = native_in_image ? frame.frame->module : Frame::kNone;
  const auto next = static_cast<std::uint32_t>(functions_.size());
  const std::string file = frame.frame == nullptr ? "" : source_name(*frame.frame);
  const auto [at, added] = function_of_.try_emplace({frame.label, file, module}, next);
  if (!added) return at->second;
  std::string name = frame.label;
  if (native_in_image) {  // the Profiler itself puts the image before the name
    name = valid_utf8(frame.frame->name);
    if (name.empty()) name = fmt::format("{:#x}", frame.frame->address - module_of(*frame.frame).base);
  }
  functions_.push_back({strings_.index(name), resource(module),
                        source(file)});
  return at->second;
}

std::optional<std::uint32_t> FirefoxTables::native_symbol(const Frame& frame) {
  if (!is_in_image(frame) || frame.name.empty() || frame.inline_depth != 0) return std::nullopt;
  const std::uint64_t rva = frame.address - module_of(frame).base - frame.displacement;
  if (rva > kLastRva) return std::nullopt;
  const auto next = static_cast<std::uint32_t>(symbols_.size());
  const auto [at, added] = symbol_of_.try_emplace({frame.module, rva}, next);
  if (added) symbols_.push_back({frame.module, rva, strings_.index(frame.name)});
  return at->second;
}

std::int32_t FirefoxTables::source(const std::string& file) {
  if (file.empty()) return -1;
  const auto [at, added] = source_of_.try_emplace(file, static_cast<std::int32_t>(sources_.size()));
  if (added) sources_.push_back(strings_.index(file));
  return at->second;
}

std::int32_t FirefoxTables::resource(std::int32_t module) {
  if (module == Frame::kNone) return -1;
  const auto next = static_cast<std::int32_t>(resources_.size());
  const auto [at, added] = resource_of_.try_emplace(module, next);
  if (added) resources_.push_back(module);
  return at->second;
}

const Module& FirefoxTables::module_of(const Frame& frame) const {
  return recording_.modules[static_cast<std::size_t>(frame.module)];
}

}  // namespace mixwalk
