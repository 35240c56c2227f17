#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mixwalk {

// The names of the files of a recording in pieces: "orders.mixwalk", "orders.2.mixwalk", "orders.3.mixwalk". Pure.
// `piece`: from 1 on. The number of a piece follows a point. If a file of the default name exists, its number follows a
// hyphen (numbered_output). So the pieces of two recordings that begin in the same second have different names.
std::string piece_path(std::string_view path, int piece);

// The number of the piece of the recording `path` that the file name `file` stands for, from 2 on. Returns nothing if
// the name is not that of a piece. `file`: a name in the folder of `path`. Upper and lower case count as equal, as on
// Windows.
std::optional<int> piece_number(std::string_view path, std::string_view file);

}  // namespace mixwalk
