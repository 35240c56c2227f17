#include "walker/base/near_match.h"

#include <algorithm>
#include <array>

#include "unmanaged/ascii_lower.h"

namespace mixwalk {
namespace {

constexpr std::size_t kMaxBytes = 64;  // names are shorter, and the time grows with the square
constexpr std::size_t kLettersForEachMistake = 3;
constexpr std::size_t kLeastBeginning = 2;  // a shorter one begins many words

}  // namespace

std::size_t typing_distance(std::string_view one, std::string_view other) {
  if (one.size() > kMaxBytes || other.size() > kMaxBytes) return std::max(one.size(), other.size());
  const std::string a = ascii_lower(one), b = ascii_lower(other);
  // Three rows of the table: of the letters of `a` up to the one before the last, up to the last, and with this one.
  using Row = std::array<std::size_t, kMaxBytes + 1>;
  Row older{}, old{}, now{};
  for (std::size_t j = 0; j <= b.size(); ++j) now[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    older = old;
    old = now;
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({old[j] + 1, now[j - 1] + 1, old[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) now[j] = std::min(now[j], older[j - 2] + 1);
    }
  }
  return now[b.size()];
}

std::string near_match(std::string_view text, std::span<const std::string> words) {
  const std::string* nearest = nullptr;
  std::size_t least = 0;
  for (const std::string& word : words) {
    const std::size_t distance = typing_distance(text, word);
    if (distance * kLettersForEachMistake > word.size() || (nearest != nullptr && distance >= least)) continue;
    nearest = &word;
    least = distance;
  }
  if (nearest != nullptr) return *nearest;
  const auto begins = [&](const std::string& word) { return ascii_lower(word).starts_with(ascii_lower(text)); };
  const bool one = text.size() >= kLeastBeginning && std::ranges::count_if(words, begins) == 1;
  return one ? *std::ranges::find_if(words, begins) : std::string();
}

}  // namespace mixwalk
