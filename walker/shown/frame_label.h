#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "walker/model/recording.h"

namespace mixwalk {

// The parts of a frame's label, in a form that may be shown.
struct FrameWords {
  FrameKind kind = FrameKind::native;
  std::optional<std::string> image;  // the image's file name; nothing for code outside every image
  std::uint64_t offset = 0;          // offset of the frame's address in the image, or the address itself
  std::string name;                  // empty if none is known
  OpenReason why = OpenReason::none;  // why a gap is there
  std::string target;                // the code that a stub leads to; empty if not known
};

// The label of a frame in every format, without the offset in the function: "ntdll.dll!NtWait",
// "orders.dll!0x102c", "[code at 0x1234]", "Orders.Program.Main()", "[P/Invoke] orders!wait", "[P/Invoke]",
// "[IL_STUB_StructMarshal]", "[stub at 0x1234]", "[gap: the code has no unwind data]".
std::string frame_label(const FrameWords& words);

// The name of a frame for people. That of a managed function is written as in C# (managed_name()).
std::string shown_name(FrameKind kind, std::string name);
// The target of a stub for people. `stub`: the runtime's name of the stub.
std::string shown_target(std::string_view stub, std::string target);

// The label of a recorded frame. It is always UTF-8: bytes that were not UTF-8 in the target are replaced by U+FFFD.
// The label of a guessed frame ends with kGuessedMark.
std::string frame_label(const Recording& recording, const Frame& frame);
// The same label, but with a managed function's name in the form of metadata.
std::string raw_frame_label(const Recording& recording, const Frame& frame);

inline constexpr std::string_view kGuessedMark = " [guessed]";

}  // namespace mixwalk
