#include "symbols/demangle/itanium_length.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace mixwalk {
namespace {

constexpr int kMaxDepth = 200;  // types inside types; the runtime's own limit is ten times that
// The maximum number of characters that a part adds besides its own text: "unsigned long long",
// "std::basic_iostream<…>", " const&", ", ".
constexpr std::size_t kPart = 64;
// Text that would become longer than this is not a name. The value is so small that sums of lengths cannot overflow.
constexpr std::size_t kTooLong = std::size_t{1} << 40;
// If the grammar below does not cover a construct (expressions, decltype), a few substitutions do no harm, whatever
// they refer to, because each at most doubles the text before it.
constexpr std::size_t kHarmlessReferences = 10;

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
bool is_lower(char c) noexcept {
  return c >= 'a' && c <= 'z';
}

// Reads a mangled name. Instead of making text, it only adds up lengths.
class Lengths {
 public:
  explicit Lengths(std::string_view text) : text_(text) {}

  // Returns 0 if the name does not fit the part of the grammar that is implemented here.
  std::size_t whole() {
    if (!take("_Z")) return 0;
    const std::size_t length = encoding();
    if (ok_ && peek() == '.') at_ = text_.size();  // the suffix that a compiler appends for copies of functions
    return ok_ && at_ == text_.size() ? length : 0;
  }

 private:
  char peek(std::size_t ahead = 0) const noexcept {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  std::string_view rest() const noexcept {
    return at_ < text_.size() ? text_.substr(at_) : std::string_view();
  }
  bool take(std::string_view expected) noexcept {
    if (!rest().starts_with(expected)) return false;
    at_ += expected.size();
    return true;
  }
  std::size_t fail() noexcept {
    ok_ = false;
    return 0;
  }
  std::size_t capped(std::size_t length) noexcept {
    return std::min(length, kTooLong);
  }
  void remember(std::size_t length) { substitutions_.push_back(capped(length)); }

  struct Deeper {
    explicit Deeper(Lengths& of) : of(of) {
      if (++of.depth_ > kMaxDepth) of.ok_ = false;
    }
    ~Deeper() { --of.depth_; }
    Lengths& of;
  };

  std::size_t digits() noexcept {
    std::size_t value = 0;
    if (!is_digit(peek())) return fail();
    while (is_digit(peek()) && value < kTooLong) {
      value = value * 10 + static_cast<std::size_t>(text_[at_++] - '0');
    }
    return value;
  }
  // Reads the number of "_", "0_", "Z_"; `base` is the base of its digits.
  std::size_t sequence(std::size_t base) noexcept {
    std::size_t value = 0;
    bool any = false;
    for (; peek() != '_'; ++at_, any = true) {
      const char c = peek();
      const bool letter = c >= 'A' && c <= 'Z' && base == 36;
      if ((!is_digit(c) && !letter) || value > text_.size()) return fail();
      value = value * base + static_cast<std::size_t>(letter ? c - 'A' + 10 : c - '0');
    }
    ++at_;
    return any ? value + 1 : 0;
  }
  void number() noexcept {
    take("n");
    digits();
  }

  std::size_t encoding() {
    const Deeper deeper(*this);
    if (!ok_) return 0;
    if (take("GV") || take("GR")) {
      const std::size_t length = kPart + name();
      while (ok_ && at_ < text_.size() && peek() != '.') ++at_;  // a number
      return length;
    }
    if (take("TV") || take("TT") || take("TI") || take("TS")) return kPart + type();
    if (take("Th")) return thunk(1);
    if (take("Tv")) return thunk(2);
    std::size_t length = name();
    while (ok_ && at_ < text_.size() && peek() != 'E' && peek() != '.') length = capped(length + type());
    return length;
  }
  std::size_t thunk(int numbers) {
    for (; numbers > 0; --numbers) {
      number();
      if (!take("_")) return fail();
    }
    return kPart + encoding();
  }

  std::size_t name() {
    const Deeper deeper(*this);
    if (!ok_) return 0;
    if (take("N")) return nested();
    if (take("Z")) return local();
    std::size_t length = 0;
    if (peek() == 'S' && peek(1) != 't') {
      length = substitution();
      if (peek() != 'I') return fail();
    } else {
      if (take("St")) length = 5;
      length += unqualified();
      if (peek() == 'I') remember(length);
    }
    if (peek() == 'I') length = capped(length + arguments());
    return length;
  }

  std::size_t nested() {
    std::size_t length = kPart;  // qualifiers
    while (peek() == 'r' || peek() == 'V' || peek() == 'K' || peek() == 'R' || peek() == 'O') ++at_;
    for (bool first = true; ok_ && !take("E"); first = false) {
      const char c = peek();
      if (c == 'S' && peek(1) != 't') {
        length = capped(length + substitution());
        continue;  // it is in the list already
      }
      if (c == 'I') {
        length = capped(length + arguments());
      } else if (c == 'T') {
        length = capped(length + parameter());
      } else {
        if (first && take("St")) length += 5;
        length = capped(length + unqualified());
        take("M");
      }
      if (peek() != 'E') remember(length);
    }
    return length;
  }

  std::size_t local() {
    std::size_t length = encoding();
    if (!take("E")) return fail();
    if (take("d")) {
      while (is_digit(peek())) ++at_;
      if (!take("_")) return fail();
    }
    length = capped(length + (take("s") ? kPart : name()));
    if (take("__")) {
      digits();
      if (!take("_")) return fail();
    } else if (take("_")) {
      digits();
    }
    return length;
  }

  std::size_t unqualified() {
    std::size_t length = kPart;
    take("L");
    if (is_digit(peek())) {
      const std::size_t size = digits();
      if (size > text_.size() - at_) return fail();
      at_ += size;
      length += size;
    } else if (take("Ul")) {
      while (ok_ && !take("E")) length = capped(length + type());
      sequence(10);
    } else if (take("Ut")) {
      sequence(10);
    } else if ((peek() == 'C' && peek(1) >= '1' && peek(1) <= '5') ||
               (peek() == 'D' && peek(1) >= '0' && peek(1) <= '5')) {
      at_ += 2;
      length += last_name_;
    } else if (take("cv")) {
      length = capped(length + type());
    } else if (take("li")) {
      length = capped(length + unqualified());
    } else if (is_lower(peek()) && (is_lower(peek(1)) || (peek(1) >= 'A' && peek(1) <= 'Z'))) {
      at_ += 2;
    } else {
      return fail();
    }
    while (take("B")) length = capped(length + unqualified());
    last_name_ = std::max(last_name_, length);
    return length;
  }

  std::size_t substitution() {
    ++at_;  // 'S'
    if (std::string_view("absiod").find(peek()) != std::string_view::npos && peek() != '\0') {
      ++at_;
      return 2 * kPart;  // std::basic_string<char, std::char_traits<char>, std::allocator<char> >
    }
    const std::size_t index = sequence(36);
    if (!ok_ || index >= substitutions_.size()) return fail();
    return substitutions_[index];
  }

  // T_ is an argument of a template; which argument it is, is not determined.
  std::size_t parameter() {
    ++at_;
    sequence(10);
    return largest_argument_;
  }

  std::size_t arguments() {
    const Deeper deeper(*this);
    if (!ok_ || !take("I")) return fail();
    std::size_t length = kPart;
    while (ok_ && !take("E")) length = capped(length + argument());
    return length;
  }
  std::size_t argument() {
    const Deeper deeper(*this);
    if (!ok_) return 0;
    std::size_t length = 0;
    if (take("L")) {
      length = literal();
    } else if (take("J")) {
      while (ok_ && !take("E")) length = capped(length + argument());
    } else {
      length = type();
    }
    largest_argument_ = std::max(largest_argument_, length);
    return length;
  }
  std::size_t literal() {
    if (take("_Z")) {
      const std::size_t length = encoding();
      return take("E") ? length : fail();
    }
    const std::size_t length = type(), begin = at_;
    while (at_ < text_.size() && peek() != 'E') ++at_;
    return take("E") ? capped(length + (at_ - begin)) : fail();
  }

  std::size_t type() {
    const Deeper deeper(*this);
    if (!ok_) return 0;
    const char c = peek();
    if (is_digit(c) || c == 'N' || c == 'Z') {
      const std::size_t length = name();
      remember(length);
      return length;
    }
    if (is_lower(c) && c != 'r' && c != 'u') {
      ++at_;
      return kPart;
    }
    std::size_t length = 0;
    switch (c) {
      case 'r':
      case 'V':
      case 'K':
        while (peek() == 'r' || peek() == 'V' || peek() == 'K') ++at_;
        length = kPart + type();
        break;
      case 'P':
      case 'R':
      case 'O':
      case 'C':
      case 'G':
        ++at_;
        length = kPart + type();
        break;
      case 'F':
        ++at_;
        take("Y");
        length = kPart;
        while (ok_ && !take("E")) {
          if (!take("R") || peek() == 'E') length = capped(length + type());
        }
        break;
      case 'A':
        ++at_;
        if (peek() != '_') digits();
        if (!take("_")) return fail();
        length = kPart + type();
        break;
      case 'M':
        ++at_;
        length = kPart + type();
        length = capped(length + type());
        break;
      case 'T':
        length = parameter();
        remember(length);
        if (peek() != 'I') return length;
        length = capped(length + arguments());
        break;
      case 'S':
        if (peek(1) == 't') {
          length = name();
          break;
        }
        length = substitution();
        if (peek() != 'I') return length;
        length = capped(length + arguments());
        break;
      case 'D':
        if (take("Dp")) {
          // An expansion repeats its pattern for each argument of a pack. A pack has no more arguments than the mangled
          // name has characters.
          length = capped(text_.size() * (kPart + type()));
          break;
        }
        if (std::string_view("nacsuidefh").find(peek(1)) == std::string_view::npos || peek(1) == '\0') {
          return fail();
        }
        at_ += 2;
        return kPart;
      default:
        return fail();
    }
    length = capped(length);
    remember(length);
    return length;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool ok_ = true;
  std::vector<std::size_t> substitutions_;
  std::size_t largest_argument_ = 0, last_name_ = 0;
};

}  // namespace

std::size_t itanium_length(std::string_view mangled) {
  const std::size_t length = Lengths(mangled).whole();
  if (length != 0) return length >= kTooLong ? SIZE_MAX : length;
  std::size_t references = 0;
  for (std::size_t i = 0; i + 1 < mangled.size(); ++i) {
    references += (mangled[i] == 'S' || mangled[i] == 'T') &&
                  (mangled[i + 1] == '_' || is_digit(mangled[i + 1]) ||
                   (mangled[i + 1] >= 'A' && mangled[i + 1] <= 'Z'));
    references += mangled.compare(i, 2, "Dp") == 0;
  }
  return references > kHarmlessReferences ? SIZE_MAX : (mangled.size() + 1) * kPart << references;
}

}  // namespace mixwalk
