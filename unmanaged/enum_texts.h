#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace mixwalk {

// Whether the value is that of an enumerator. The compiler writes any other value as a cast: "(mixwalk::FrameKind)4".
template <auto value>
consteval bool is_enumerator() {
  const std::string_view function = __PRETTY_FUNCTION__;
  return function.substr(function.find("value = ") + 8).front() != '(';
}

// The texts of an enumeration whose enumerators count from 0 to `last`, in their order. It does not compile if a text
// is missing, or if another enumerator follows `last`. Frozen-safe.
template <auto last>
class EnumTexts {
 public:
  using Enum = decltype(last);

  template <class... Text>
  consteval EnumTexts(const Text&... texts) : texts_{texts...} {
    static_assert(sizeof...(Text) == kCount, "each enumerator has one text");
  }

  // A value of a file may be that of no enumerator: `otherwise` is its text.
  constexpr std::string_view of(Enum value, std::string_view otherwise = {}) const noexcept {
    const auto index = static_cast<std::size_t>(value);
    return index < kCount ? texts_[index] : otherwise;
  }

  // The first enumerator with that text.
  constexpr std::optional<Enum> find(std::string_view text) const noexcept {
    const auto found = std::ranges::find(texts_, text);
    if (found == texts_.end()) return std::nullopt;
    return static_cast<Enum>(found - texts_.begin());
  }

 private:
  static constexpr std::size_t kCount = static_cast<std::size_t>(last) + 1;
  static_assert(!is_enumerator<static_cast<Enum>(kCount)>(), "`last` is the last enumerator");

  std::array<std::string_view, kCount> texts_;
};

// The names by which formats and options know an enumeration's enumerators. They never change, because programs read
// them. An enumeration that has such names specialises this beside a room's other texts (words.h, finding_words.h).
template <class Enum>
inline constexpr auto kEnumNames = nullptr;

// Empty for a value that is none of the enumerators.
template <class Enum>
constexpr std::string_view enum_name(Enum value) noexcept {
  return kEnumNames<Enum>.of(value);
}

template <class Enum>
constexpr std::optional<Enum> enumerator_of(std::string_view name) noexcept {
  return kEnumNames<Enum>.find(name);
}

}  // namespace mixwalk
