#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mixwalk {

// Convert the types in the names of managed functions to C#'s form: "System.Collections.Generic.List<System.Int32>[]" →
// "System.Collections.Generic.List<int>[]". Pure; bounded by the length of the input.

// Converts the types of a list without its brackets, "System.Int32, ref System.String"; an empty list has no types.
// Returns nothing if the text is not such a list, or is nested more deeply than any compiler nests types.
std::optional<std::vector<std::string>> csharp_types(std::string_view list);

// Returns where the angle bracket that `text` begins with is closed, or npos if it is not closed.
std::size_t closing_angle(std::string_view text) noexcept;

}  // namespace mixwalk
