// Compares our demangling of MSVC's names with that of llvm-undname. The names are exports of Wine's C++ runtime, and
// Microsoft's compiler made them.

#include <gtest/gtest.h>

#include <iostream>
#include <regex>

#include "symbols/demangle/demangle.h"
#include "tests/oracles/binutils_oracle.h"
#include "tests/oracles/symbolizer_oracle.h"

namespace mixwalk {
namespace {

void remove_all(std::string& text, std::string_view part, std::string_view with = "") {
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + with.size())) {
    text.replace(at, part.size(), with);
  }
}

// Removes what llvm-undname writes and demangle() leaves out.
std::string as_we_write(std::string text) {
  for (const char* word : {"class ", "struct ", "union ", "enum "}) remove_all(text, word);
  remove_all(text, "(void)", "()");
  if (text.find('`') == text.npos) return text;
  // The types of functions that contain something, and of tables.
  static const std::regex functions(
      "`(?:(?:public|private|protected): )?(?:(?:static|virtual) )?[^`()]*? __cdecl "),
      tables("^const (.*table'.*)$"), bases("\\{for `.*'\\}$");
  text = std::regex_replace(text, functions, "`");
  text = std::regex_replace(text, tables, "$1");
  return std::regex_replace(text, bases, "");
}

TEST(DemangleOracleTest, ExportsOfTheRuntimeAgreeWithLlvmUndname) {
  std::vector<std::string> names;
  for (const char* dll : {"msvcp140.dll", "concrt140.dll"}) {
    const std::string path = test::wine_dll(dll);
    ASSERT_NE(path, "") << "no Wine DLLs: install wine64";
    const auto bytes = test::read_file(path);
    const PeImage image = PeImage::parse(bytes);
    for (const PeExport& found : image.exports()) {
      if (found.name.starts_with('?')) names.emplace_back(found.name);
    }
  }
  std::string problem;
  const std::vector<std::string> oracle = test::ask_llvm_undname(names, problem);
  ASSERT_EQ(problem, "");
  std::size_t same = 0, refused = 0, other = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string ours = demangle_msvc(names[i]);
    if (oracle[i].empty()) {
      ++refused;
    } else if (ours == as_we_write(oracle[i])) {
      ++same;
    } else if (++other <= 5) {
      std::cout << names[i] << "\n  llvm " << as_we_write(oracle[i]) << "\n  ours " << ours << "\n";
    }
  }
  std::cout << names.size() << " names: the same " << same << ", another " << other << ", llvm refuses "
            << refused << "\n";
  EXPECT_GT(same, 1500u);
  EXPECT_LE(other, names.size() / 500);
}

}  // namespace
}  // namespace mixwalk
