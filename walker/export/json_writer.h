#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>

#include "walker/export/buffered_sink.h"

namespace mixwalk {

// Writes a JSON document piece by piece, so that a large one never stands in memory whole. Objects
// and arrays are begun and ended by hand; commas come by themselves. ASCII only, as json.cpp's; what
// is no UTF-8 becomes U+FFFD. Integers are written with all their digits.
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
  // null, or a number in a form of the caller's own.
  void literal(std::string_view text);

  void field(std::string_view name, const auto& its_value) {
    key(name);
    value(its_value);
  }

  // Ends the document. False: the sink refused some of it.
  bool finish();

 private:
  void open(char bracket);
  void close(char bracket);
  void separate();
  void integer(std::int64_t number);
  void integer(std::uint64_t number);

  BufferedSink out_;
  bool comma_ = false;  // a value went before this one
};

}  // namespace mixwalk
