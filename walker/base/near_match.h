#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace mixwalk {

// How many letters a person has mistyped: the least number of letters that are missing, superfluous, wrong, or
// exchanged with their neighbour (optimal string alignment). Upper and lower case of ASCII count as equal. Texts of
// more than 64 bytes are not compared: the result is then their length. Not frozen-safe.
std::size_t typing_distance(std::string_view one, std::string_view other);

// The word that a person presumably meant by `text`: the nearest one, if no more than a third of its letters are
// mistyped, or if it begins with `text` and no other word does. Empty if there is no such word.
std::string near_match(std::string_view text, std::span<const std::string> words);

}  // namespace mixwalk
