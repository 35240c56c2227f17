#include "walker/shown/frame_label.h"

#include <fmt/format.h>

#include <utility>

#include "symbols/demangle/managed_name.h"
#include "walker/base/utf8.h"
#include "walker/shown/words.h"

namespace mixwalk {
namespace {

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

std::string label_with_name(const Recording& recording, const Frame& frame, std::string name) {
  FrameWords words{.kind = frame.kind, .offset = frame.address, .name = std::move(name), .why = frame.why};
  words.target = shown_target(words.name, valid_utf8(frame.target));
  if (frame.module != Frame::kNone) {
    const Module& module = recording.modules[static_cast<std::size_t>(frame.module)];
    words.image = valid_utf8(module_name(module));
    words.offset -= module.base;
  }
  std::string label = frame_label(words);
  if (is_guess(frame.trust)) label += kGuessedMark;
  return label;
}

}  // namespace

std::string frame_label(const FrameWords& words) {
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

std::string shown_name(FrameKind kind, std::string name) {
  return kind == FrameKind::managed ? managed_name(name) : name;
}

std::string shown_target(std::string_view stub, std::string target) {
  return clr_stub(stub) == ClrStub::pinvoke ? target : managed_name(target);
}

std::string frame_label(const Recording& recording, const Frame& frame) {
  return label_with_name(recording, frame, shown_name(frame.kind, valid_utf8(frame.name)));
}

std::string raw_frame_label(const Recording& recording, const Frame& frame) {
  return label_with_name(recording, frame, valid_utf8(frame.name));
}

}  // namespace mixwalk
