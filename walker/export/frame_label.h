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
  std::optional<std::string> image;  // file name; nothing means code outside every image
  std::uint64_t offset = 0;          // of the frame's address in the image, or the address itself
  std::string name;                  // empty if none is known
  OpenReason why = OpenReason::none;  // of a gap
  std::string target;                // of a stub: what it leads to; empty if not known
};

// The label of a frame in every format, without the offset in the function: "ntdll.dll!NtWait",
// "orders.dll!0x102c", "[code at 0x1234]", "Orders.Program.Main()", "[P/Invoke] orders!wait", "[P/Invoke]",
// "[IL_STUB_StructMarshal]", "[stub at 0x1234]", "[gap: the code has no unwind data]".
std::string frame_label(const FrameWords& words);

// The name of a frame for people: a managed function's is written as in C# (managed_name()).
std::string shown_name(FrameKind kind, std::string name);
// The target of a stub for people; `stub`: what the runtime calls the stub.
std::string shown_target(std::string_view stub, std::string target);

// The label of a recorded frame. Always UTF-8: bytes that were no UTF-8 in the target are U+FFFD. The label of a
// guessed frame ends with kGuessedMark.
std::string frame_label(const Recording& recording, const RecordedFrame& frame);
// The same with a managed function's name as metadata has it.
std::string raw_frame_label(const Recording& recording, const RecordedFrame& frame);

inline constexpr std::string_view kGuessedMark = " [guessed]";

}  // namespace mixwalk
