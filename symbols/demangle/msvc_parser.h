#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mixwalk {

// A type as two texts, for the left and the right of the name that is declared: "int (*" and ")(char)".
struct MsvcType {
  std::string left, right;
  std::string whole() const { return left + right; }
};

// Reads MSVC's decorated names, from left to right. Bounded in depth, and in the length of every text that it makes (a
// back reference repeats earlier text). Microsoft documents only the demangled names. The grammar is known from a
// compiler that writes such names (clang's MicrosoftMangle) and from Agner Fog's "Calling conventions".
class MsvcParser {
 public:
  explicit MsvcParser(std::string_view text) : text_(text) {}

  // Returns the function, or the variable, that the name stands for. The result is empty if there is none, or if the
  // name has a form that is not supported here.
  std::string whole();

 private:
  static constexpr int kMaxDepth = 200;        // each template inside a template takes four levels
  static constexpr std::size_t kMaxText = 64 * 1024;  // characters of one part
  static constexpr std::size_t kMaxBack = 10;         // a back reference has one digit

  // The names and types to which back references refer. Each template's argument list has a Memory of its own.
  struct Memory {
    std::vector<std::string> names;
    std::vector<MsvcType> types;
  };
  struct Deeper {
    explicit Deeper(MsvcParser& of) : of(of) {
      if (++of.depth_ > kMaxDepth) of.ok_ = false;
    }
    ~Deeper() { --of.depth_; }
    MsvcParser& of;
  };

  char peek(std::size_t ahead = 0) const noexcept {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  std::string_view rest() const noexcept {
    return at_ < text_.size() ? text_.substr(at_) : std::string_view();
  }
  bool take(std::string_view expected) noexcept;
  std::string fail() noexcept;
  std::string checked(std::string text) noexcept;
  void remember(const std::string& name);

  // Names (msvc_names.cpp).
  std::string symbol();
  std::optional<std::string> special_symbol();
  std::string function_name();  // the first part of a symbol
  std::string operator_name();
  std::string simple_name(bool memorable);
  std::string back_name();
  std::string template_name(bool memorable);
  std::string scope();
  std::string type_name();  // of a class: its first part and its scopes
  std::string qualified(std::string first, bool& structor_resolved);
  std::string template_arguments();
  std::string template_argument();
  std::string number();

  // Types and functions (msvc_types.cpp).
  std::string function_rest(std::string* return_type);
  std::string parameters();
  MsvcType type();
  MsvcType result_type();
  MsvcType pointer(std::string_view sign, std::string_view own_qualifiers);
  MsvcType function_type(std::string_view inner);
  MsvcType array_type();
  std::string primitive();
  std::string this_qualifiers();
  std::string_view calling_convention();
  void extended_qualifiers() noexcept;
  std::string_view qualifiers() noexcept;

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool ok_ = true;
  Memory memory_;
  // The kind of the function that is being read, as long as its name is not complete. The name of a constructor or a
  // destructor lacks the name of the class; a conversion lacks the type that it converts to.
  enum class Structor : std::uint8_t { none, constructor, destructor, conversion } structor_ = Structor::none;
};

}  // namespace mixwalk
