#include "walker/export/json_writer.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace mixwalk {

std::string quoted_json(std::string_view text) {
  constexpr bool kAscii = true;
  return nlohmann::json(text).dump(-1, ' ', kAscii, nlohmann::json::error_handler_t::replace);
}

void JsonWriter::key(std::string_view name) {
  value(name);
  out_.write(":");
  comma_ = false;
}

void JsonWriter::value(std::string_view text) { literal(quoted_json(text)); }

void JsonWriter::literal(std::string_view text) {
  separate();
  out_.write(text);
}

bool JsonWriter::finish() {
  out_.write("\n");
  return out_.flush();
}

void JsonWriter::open(char bracket) {
  literal({&bracket, 1});
  comma_ = false;
}

void JsonWriter::close(char bracket) {
  out_.write({&bracket, 1});
  comma_ = true;
}

void JsonWriter::separate() {
  if (comma_) out_.write(",");
  comma_ = true;
}

void JsonWriter::integer(std::int64_t number) {
  const fmt::format_int text(number);
  literal({text.data(), text.size()});
}

void JsonWriter::integer(std::uint64_t number) {
  const fmt::format_int text(number);
  literal({text.data(), text.size()});
}

}  // namespace mixwalk
