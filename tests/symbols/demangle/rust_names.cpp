#include "tests/symbols/demangle/rust_names.h"

#include <cstdint>
#include <random>
#include <string_view>

namespace mixwalk::test {
namespace {

class RustNameWriter {
 public:
  explicit RustNameWriter(std::uint32_t seed) : random_(seed) {}

  std::string name() {
    text_ = "_R";
    places_.clear();
    path(0, true);
    if (one_in(4)) crate();  // where a generic function was instantiated
    return text_;
  }

 private:
  bool one_in(std::uint32_t n) { return random_() % n == 0; }
  char any_of(std::string_view characters) { return characters[random_() % characters.size()]; }

  void base_62(std::uint64_t value) {
    if (value != 0) {
      std::string digits;
      for (--value;; value /= 62) {
        digits.insert(digits.begin(), "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[value % 62]);
        if (value < 62) break;
      }
      text_ += digits;
    }
    text_ += '_';
  }
  void identifier() {
    if (one_in(5)) {
      text_ += 's';
      base_62(random_() % 200);
    }
    static constexpr std::string_view kWords[] = {"alloc", "iter", "_private", "map", "T", "next_back", "x1", "Queue"};
    const std::string_view word = kWords[random_() % std::size(kWords)];
    text_ += std::to_string(word.size());
    if (word[0] == '_' || (word[0] >= '0' && word[0] <= '9')) text_ += '_';
    text_ += word;
  }
  void crate() {
    text_ += 'C';
    text_ += 's';
    base_62(random_());
    text_ += "7mycrate";
  }
  // Refers back to something of the same kind, if there is one.
  bool refer(char kind) {
    if (!one_in(4)) return false;
    for (const auto& [known, at] : places_) {
      if (known != kind || !one_in(2)) continue;
      text_ += 'B';
      base_62(at);
      return true;
    }
    return false;
  }
  void remember(char kind, std::size_t at) { places_.emplace_back(kind, at - 2); }

  void path(int depth, bool value) {
    const std::size_t begin = text_.size();
    switch (depth > 4 ? 0 : random_() % 8) {
      case 0:
        crate();
        break;
      case 1:
        text_ += 'M';
        impl_path(depth);
        type(depth + 1);
        break;
      case 2:
        text_ += 'X';
        impl_path(depth);
        type(depth + 1);
        path(depth + 1, false);
        break;
      case 3:
        text_ += 'Y';
        type(depth + 1);
        path(depth + 1, false);
        break;
      case 4:
        text_ += 'I';
        path(depth + 1, value);
        for (std::uint32_t i = random_() % 3 + 1; i-- != 0;) argument(depth + 1);
        text_ += 'E';
        break;
      default:
        if (depth != 0 && refer('p')) return;
        text_ += 'N';
        text_ += value ? any_of("vvCS") : 't';
        path(depth + 1, value);
        identifier();
    }
    remember('p', begin);
  }
  void impl_path(int depth) {
    if (one_in(3)) {
      text_ += 's';
      base_62(random_() % 10);
    }
    path(depth + 2, false);
  }
  void argument(int depth) {
    switch (random_() % 6) {
      case 0:
        text_ += "L_";
        break;
      case 1:
        text_ += 'K';
        constant();
        break;
      default:
        type(depth);
    }
  }
  void constant() {
    switch (random_() % 4) {
      case 0:
        text_ += one_in(2) ? "b0_" : "b1_";
        break;
      case 1:
        text_ += std::string("c") + any_of("46") + any_of("123456789abcde") + '_';
        break;
      case 2:
        text_ += std::string("l") + (one_in(2) ? "n" : "") + any_of("123456789abcdef") + '_';
        break;
      default:
        text_ += std::string("j") + any_of("123456789abcdef") + any_of("0123456789abcdef") + '_';
    }
  }
  void type(int depth) {
    const std::size_t begin = text_.size();
    switch (depth > 4 ? 0 : random_() % 12) {
      case 0:
      case 1:
      case 2:
        text_ += any_of("abcdefhijlmnostuvxyz");
        return;  // too short to refer back to
      case 3:
        text_ += any_of("RQ");
        if (one_in(3)) text_ += "L_";
        type(depth + 1);
        break;
      case 4:
        text_ += any_of("PO");
        type(depth + 1);
        break;
      case 5:
        text_ += 'A';
        type(depth + 1);
        text_ += std::string("j") + any_of("123456789") + '_';
        break;
      case 6:
        text_ += 'S';
        type(depth + 1);
        break;
      case 7:
        text_ += 'T';
        for (std::uint32_t i = random_() % 4; i-- != 0;) type(depth + 1);
        text_ += 'E';
        break;
      case 8:
        text_ += 'F';
        if (one_in(3)) text_ += 'U';
        if (one_in(3)) text_ += one_in(2) ? "KC" : "K6system";
        for (std::uint32_t i = random_() % 3; i-- != 0;) type(depth + 1);
        text_ += 'E';
        type(depth + 1);
        break;
      case 9:
        text_ += 'D';
        path(depth + 1, false);
        text_ += "EL_";
        break;
      default:
        if (refer('t')) return;
        path(depth + 1, false);
    }
    remember('t', begin);
  }

  std::mt19937 random_;
  std::string text_;
  std::vector<std::pair<char, std::size_t>> places_;  // 'p' a path, 't' a type, and where it begins behind "_R"
};

}  // namespace

std::vector<std::string> rust_names(std::size_t count) {
  std::vector<std::string> names;
  for (std::uint32_t seed = 0; names.size() < count; ++seed) names.push_back(RustNameWriter(seed).name());
  return names;
}

std::vector<std::string> legacy_rust_names(std::size_t count) {
  static constexpr std::string_view kPieces[] = {"core", "ptr", "$LT$", "$GT$", "$u20$as$u20$", "..", "T", "$RF$",
                                                 "$BP$", "$u7b$$u7b$closure$u7d$$u7d$", "$LP$", "$RP$", "$C$",
                                                 "$u27$", "Vec", "drop_in_place", ".", "$u5b$", "$u3b$", "$SP$"};
  std::mt19937 random(7);
  std::vector<std::string> names;
  while (names.size() < count) {
    std::string name = "_ZN";
    for (std::uint32_t parts = random() % 4 + 1; parts-- != 0;) {
      std::string part;
      for (std::uint32_t pieces = random() % 5 + 1; pieces-- != 0;) part += kPieces[random() % std::size(kPieces)];
      if (part[0] == '$') part.insert(0, "_");
      name += std::to_string(part.size()) + part;
    }
    name += "17h0123456789abcde";  // enough different digits for every demangler
    names.push_back(name + "0123456789abcdef"[random() % 16] + 'E');
  }
  return names;
}

}  // namespace mixwalk::test
