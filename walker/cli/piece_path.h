#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mixwalk {

// The files that a recording goes on in: "orders.mixwalk", "orders.2.mixwalk", "orders.3.mixwalk".
// Pure. `piece`: from 1 on. The number of a piece follows a point. The number of a default name that
// is taken follows a hyphen (numbered_output). So the pieces of two recordings that begin in one
// second have different names.
std::string piece_path(std::string_view path, int piece);

// Which further file of the recording `path` the name `file` stands for, from 2 on; nothing: none.
// `file`: a name in the folder of `path`. Upper and lower case are the same, as Windows has it.
std::optional<int> piece_number(std::string_view path, std::string_view file);

}  // namespace mixwalk
