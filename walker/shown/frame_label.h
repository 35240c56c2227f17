#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "walker/model/snapshot.h"

namespace mixwalk {

// The label of a frame in every format, without the offset in the function: "ntdll.dll!NtWait",
// "orders.dll!0x102c", "[code at 0x1234]", "Orders.Program.Main()", "[P/Invoke] orders!wait", "[P/Invoke]",
// "[IL_STUB_StructMarshal]", "[stub at 0x1234]", "[gap: the code has no unwind data]".

// The label of a dump's frame, with its names as the target has them.
std::string frame_label(const Snapshot& snapshot, const Frame& frame);
// The label of a frame in UTF-8: bytes that were not UTF-8 in the target are replaced by U+FFFD. The label of a guessed
// frame ends with kGuessedMark.
std::string utf8_label(const std::vector<Module>& modules, const Frame& frame);
// The same label, but with a managed function's name in the form of metadata.
std::string raw_utf8_label(const std::vector<Module>& modules, const Frame& frame);

inline constexpr std::string_view kGuessedMark = " [guessed]";

// The most bytes of names in a line for a terminal.
struct LineLimits {
  std::size_t names = 0, files = 0;  // files: of images and of sources
};
// The label of a dump's frame in a line of text: printable, with a short name of native code, and marked if the call
// was inlined.
std::string line_label(const Snapshot& snapshot, const Frame& frame, const LineLimits& limits);
// The frame's place in its source, as the end of such a line: "  (Client.cs:~42)". The folders of the file are left
// out, because they are only those of a build machine. Empty if the place is not known.
std::string line_place(const Frame& frame, const LineLimits& limits);

}  // namespace mixwalk
