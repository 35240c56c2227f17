#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mixwalk {

// The types in the names of managed functions, in C#'s form: "System.Collections.Generic.List<System.Int32>[]" →
// "System.Collections.Generic.List<int>[]". Pure; bounded by the length of the input.

// The types of a list without its brackets, "System.Int32, ref System.String"; none for an empty list. Nothing where
// the text is no such list, or is nested more deeply than any compiler does.
std::optional<std::vector<std::string>> csharp_types(std::string_view list);

// Where the angle bracket that `text` begins with is closed; npos: nowhere.
std::size_t closing_angle(std::string_view text) noexcept;

}  // namespace mixwalk
