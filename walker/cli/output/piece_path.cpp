#include "walker/cli/output/piece_path.h"

#include <fmt/format.h>

#include <charconv>

#include "unmanaged/ascii_lower.h"

namespace mixwalk {
namespace {

struct Parts {
  std::string_view folder, stem, extension;  // together they are the path, in this order
};

Parts parts_of(std::string_view path) {
  const std::size_t name = path.find_last_of("/\\") + 1;
  const std::size_t point = path.find_last_of('.');
  const std::size_t end =
      point == std::string_view::npos || point <= name ? path.size() : point;
  return {path.substr(0, name), path.substr(name, end - name), path.substr(end)};
}

}  // namespace

std::string piece_path(std::string_view path, int piece) {
  if (piece == 1) return std::string(path);
  const Parts parts = parts_of(path);
  return fmt::format("{}{}.{}{}", parts.folder, parts.stem, piece, parts.extension);
}

std::optional<int> piece_number(std::string_view path, std::string_view file) {
  const Parts parts = parts_of(path);
  if (file.size() <= parts.stem.size() + 1 + parts.extension.size()) return std::nullopt;
  const std::string_view digits = file.substr(
      parts.stem.size() + 1, file.size() - parts.stem.size() - 1 - parts.extension.size());
  int piece = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), piece);
  // Each number has only one form: "orders.02.mixwalk" is not one of our names.
  const bool ours = error == std::errc() && end == digits.data() + digits.size() && piece >= 2 &&
                    ascii_lower(file) ==
                        ascii_lower(piece_path(path, piece).substr(parts.folder.size()));
  return ours ? std::optional(piece) : std::nullopt;
}

}  // namespace mixwalk
