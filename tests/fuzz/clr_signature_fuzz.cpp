#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "symbols/clr_name.h"

namespace {

using namespace mixwalk;

// Gives names of every awkward form; the token chooses the form.
struct FakeNames final : TypeNames {
  std::string type_name(std::uint32_t token) const override {
    switch (token % 6) {
      case 0:
        return "";
      case 1:
        return "System.Object";
      case 2:
        return "System.Collections.Generic.Dictionary`2";
      case 3:
        return "Outer`1+Inner`1";
      case 4:
        return "`+``3+`99999999999999999999";
      default:
        return std::string(300, 'N');
    }
  }
};

// The limit for a signature's text, whatever the signature repeats: the formatter's own limit, and one last name or
// argument.
constexpr std::size_t kMaxText = 128 << 10;

void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

// The first byte is the number of arguments of the generic parameters, the second the length of a type's name. The name
// and the signature follow.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::vector<std::string> arguments(data[0] % 8, std::string(data[0], 'T'));
  const std::size_t name_bytes = std::min<std::size_t>(data[1], size - 2);
  const std::string name(reinterpret_cast<const char*>(data + 2), name_bytes);
  const auto signature = std::as_bytes(std::span(data + 2 + name_bytes, size - 2 - name_bytes));

  const auto text = format_parameters(signature, FakeNames(), {arguments, arguments});
  check(!text || (text->front() == '(' && text->back() == ')' && text->size() < kMaxText));
  check(text == format_parameters(signature, FakeNames(), {arguments, arguments}));

  check(with_arguments(name, {}).size() <= name.size());
  const std::string given = with_arguments(name, arguments);
  check(arguments.empty() || given.find('<') != std::string::npos);
  return 0;
}
