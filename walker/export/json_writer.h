#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "walker/export/buffered_sink.h"

namespace mixwalk {

// A text as a JSON string in ASCII only. Bytes that are not UTF-8 become U+FFFD.
std::string quoted_json(std::string_view text);

// Writes a JSON document piece by piece, so that a large one is never in memory as a whole. The caller begins and ends
// objects and arrays; the writer adds the commas. Text is written by quoted_json, integers with all their digits.
class JsonWriter {
 public:
  explicit JsonWriter(ByteSink& sink) : out_(sink) {}

  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }
  void key(std::string_view name);

  void value(std::string_view text);
  void value(const char* text) { value(std::string_view(text)); }
  void value(std::integral auto number) {
    if constexpr (std::same_as<decltype(number), bool>) {
      literal(number ? "true" : "false");
    } else if constexpr (std::signed_integral<decltype(number)>) {
      integer(std::int64_t{number});
    } else {
      integer(std::uint64_t{number});
    }
  }
  // Writes null, or a value in a form that the caller has made.
  void literal(std::string_view text);

  void field(std::string_view name, const auto& field_value) {
    key(name);
    value(field_value);
  }

  // Writes null if there is no value.
  void field_or_null(std::string_view name, const auto& field_value, bool has_value) {
    key(name);
    if (!has_value) return literal("null");
    value(field_value);
  }

  // Writes an array of these items. write_item(item) writes each of them.
  void array(std::string_view name, const auto& items, const auto& write_item) {
    key(name);
    begin_array();
    for (const auto& item : items) write_item(item);
    end_array();
  }

  // The same for items that are plain values, and for objects, of which write_fields(item) writes the fields.
  void values(std::string_view name, const auto& items) {
    array(name, items, [this](const auto& item) { value(item); });
  }
  void objects(std::string_view name, const auto& items, const auto& write_fields) {
    array(name, items, [&](const auto& item) {
      begin_object();
      write_fields(item);
      end_object();
    });
  }

  // Ends the document. Returns false if the sink refused some of the bytes.
  bool finish();

 private:
  void open(char bracket);
  void close(char bracket);
  void separate();
  void integer(std::int64_t number);
  void integer(std::uint64_t number);

  BufferedSink out_;
  bool comma_ = false;  // whether a value came before the next one
};

}  // namespace mixwalk
