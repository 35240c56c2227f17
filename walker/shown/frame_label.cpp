#include "walker/shown/frame_label.h"

#include <fmt/format.h>

#include <functional>
#include <optional>
#include <utility>

#include "symbols/demangle/demangle.h"
#include "symbols/demangle/managed_name.h"
#include "unmanaged/image/debug_directory.h"
#include "walker/base/printable.h"
#include "walker/base/utf8.h"
#include "walker/shown/words.h"

namespace mixwalk {
namespace {

// The parts of a frame's label, in a form that may be shown.
struct FrameWords {
  FrameKind kind = FrameKind::native;
  std::optional<std::string> image;  // the image's file name; nothing for code outside every image
  std::uint64_t offset = 0;          // offset of the frame's address in the image, or the address itself
  std::string name;                  // empty if none is known
  std::string target;                // the code that a stub leads to; empty if not known
  OpenReason why = OpenReason::none;  // why a gap is there
};

// `make_shown`: makes the name of an image showable.
FrameWords words_of(const Frame& frame, const std::vector<Module>& modules, std::string name, std::string target,
                    const auto& make_shown) {
  FrameWords words{.kind = frame.kind, .image = {}, .offset = frame.address, .name = std::move(name),
                   .target = std::move(target), .why = frame.why};
  if (frame.module != Frame::kNone) {
    const Module& module = modules[static_cast<std::size_t>(frame.module)];
    words.image = make_shown(module_name(module));
    words.offset -= module.base;
  }
  return words;
}

std::string place(const FrameWords& words) {
  return words.image ? fmt::format("{}!{:#x}", *words.image, words.offset)
                     : fmt::format("{:#x}", words.offset);
}

std::string stub_label(const FrameWords& words) {
  if (words.name.empty()) return "[stub at " + place(words) + "]";
  const std::string_view role = words_of(clr_stub(words.name));
  std::string label = fmt::format("[{}]", role.empty() ? words.name : role);
  return words.target.empty() ? label : label + " " + words.target;
}

std::string label_of(const FrameWords& words) {
  const bool named = !words.name.empty();
  switch (words.kind) {
    case FrameKind::managed: return named ? words.name : "[managed code at " + place(words) + "]";
    case FrameKind::native:
      if (!named) return words.image ? place(words) : "[code at " + place(words) + "]";
      return words.image ? *words.image + "!" + words.name : words.name;
    case FrameKind::stub: return stub_label(words);
    case FrameKind::gap: return fmt::format("[gap: {}]", sentence(words.why));
  }
  return {};
}

// The name of a frame for people. That of a managed function is written as in C#.
std::string shown_name(FrameKind kind, std::string name) {
  return kind == FrameKind::managed ? managed_name(name) : name;
}

// The target of a stub for people. `stub`: the runtime's name of the stub.
std::string shown_target(std::string_view stub, std::string target) {
  return clr_stub(stub) == ClrStub::pinvoke ? target : managed_name(target);
}

std::string label_with_name(const std::vector<Module>& modules, const Frame& frame, std::string name) {
  std::string target = shown_target(name, valid_utf8(frame.target));
  std::string label = label_of(words_of(frame, modules, std::move(name), std::move(target), &valid_utf8));
  if (is_guess(frame.trust)) label += kGuessedMark;
  return label;
}

}  // namespace

std::string frame_label(const Snapshot& snapshot, const Frame& frame) {
  return label_of(words_of(frame, snapshot.modules, shown_name(frame.kind, frame.name),
                           shown_target(frame.name, frame.target), std::identity()));
}

std::string utf8_label(const std::vector<Module>& modules, const Frame& frame) {
  return label_with_name(modules, frame, shown_name(frame.kind, valid_utf8(frame.name)));
}

std::string raw_utf8_label(const std::vector<Module>& modules, const Frame& frame) {
  return label_with_name(modules, frame, valid_utf8(frame.name));
}

std::string line_label(const Snapshot& snapshot, const Frame& frame, const LineLimits& limits) {
  const bool native = frame.kind == FrameKind::native;
  const auto file = [&](const std::string& name) { return printable(name, limits.files); };
  const std::string label = label_of(words_of(
      frame, snapshot.modules,
      printable(native ? shortened(frame.name) : shown_name(frame.kind, frame.name), limits.names),
      printable(shown_target(frame.name, frame.target), limits.names), file));
  return frame.inline_depth != 0 ? "[inlined] " + label : label;
}

std::string line_place(const Frame& frame, const LineLimits& limits) {
  if (frame.file.empty()) return {};
  const std::string file = printable(file_name(frame.file), limits.files);
  if (frame.line == 0) return fmt::format("  ({})", file);
  return fmt::format("  ({}:{}{})", file, frame.line_approximate ? "~" : "", frame.line);
}

}  // namespace mixwalk
