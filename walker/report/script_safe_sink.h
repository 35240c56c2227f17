#pragma once

#include <string_view>

#include "walker/base/byte_sink.h"

namespace mixwalk {

// Writes JSON for a <script> block of a page. `<`, `>` and `&` become \u escapes, so that no text in the JSON ends the
// block or begins a comment. In a JSON document these characters occur only inside strings. JsonWriter escapes all
// characters that are not ASCII.
class ScriptSafeSink final : public ByteSink {
 public:
  explicit ScriptSafeSink(ByteSink& sink) : sink_(sink) {}

  bool write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const std::size_t plain = bytes.find_first_of("<>&");
      if (!sink_.write(bytes.substr(0, plain))) return false;
      if (plain == std::string_view::npos) break;
      const char c = bytes[plain];
      if (!sink_.write(c == '<' ? "\\u003c" : c == '>' ? "\\u003e" : "\\u0026")) return false;
      bytes.remove_prefix(plain + 1);
    }
    return true;
  }

 private:
  ByteSink& sink_;
};

}  // namespace mixwalk
