#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mixwalk {

// The files in which a recording goes on: "orders.mixwalk", "orders.2.mixwalk", "orders.3.mixwalk". Pure. `piece`: from
// 1 on. The number of a piece follows a point; the number that a default name gets because its file exists already
// follows a hyphen (numbered_output). So the pieces of two recordings that begin in the same second have different
// names.
std::string piece_path(std::string_view path, int piece);

// The number of the piece of the recording `path` that the file name `file` stands for, from 2 on; nothing if the name
// is not that of a piece. `file`: a name in the folder of `path`. Upper and lower case count as equal, as on Windows.
std::optional<int> piece_number(std::string_view path, std::string_view file);

}  // namespace mixwalk
