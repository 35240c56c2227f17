// Compares our demangling with other tools'. MSVC's names are exports of Wine's C++ runtime, which Microsoft's compiler
// made; C++'s names are those of this program; Rust's are random ones of its grammars.

#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>
#include <map>
#include <regex>

#include "symbols/demangle/demangle.h"
#include "tests/oracles/binutils_oracle.h"
#include "tests/oracles/symbolizer_oracle.h"
#include "tests/symbols/demangle/rust_names.h"

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
  // The types of functions that contain something.
  constexpr std::string_view kConvention = " __cdecl ";
  for (std::size_t at = text.find('`'); at != text.npos; at = text.find('`', at + 1)) {
    const std::size_t begin = text.find(kConvention, at), end = text.find_first_of("`()", at + 1);
    if (begin < end && text.compare(at, 10, "`anonymous") != 0) text.erase(at + 1, begin + kConvention.size() - at - 1);
  }
  if (text.find("table'") == text.npos) return text;
  static const std::regex tables("^const (.*table'.*)$"), bases("\\{for `.*'\\}$");
  return std::regex_replace(std::regex_replace(text, tables, "$1"), bases, "");
}

// What says that the next parameter is the object ("this auto self"). llvm-undname 19 does not know it.
constexpr std::string_view kExplicitObject = "_V";

// Compares our form of the names with llvm-undname's. If `whole`, ours must be a part of llvm-undname's whole text,
// which has a return type as well: without return types, llvm-undname leaves out parts of the types of parameters.
void expect_undname_agrees(const std::vector<std::string>& names, bool whole, std::size_t least_same) {
  std::string problem;
  std::vector<std::string> oracle = test::ask_llvm_undname(names, whole, problem);
  ASSERT_EQ(problem, "");
  std::vector<std::string> unknown;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!oracle[i].empty()) continue;
    remove_all(unknown.emplace_back(names[i]), kExplicitObject);
  }
  const std::vector<std::string> again = test::ask_llvm_undname(unknown, whole, problem);
  ASSERT_EQ(problem, "");
  for (std::size_t i = 0, next = 0; i < names.size(); ++i) {
    if (oracle[i].empty()) oracle[i] = again[next++];
  }
  std::size_t same = 0, refused = 0, other = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string ours = demangle(names[i]), theirs = as_we_write(oracle[i]);
    // In a back reference, llvm-undname shows the checksum of an anonymous namespace.
    if (theirs.empty() || theirs.find("0x") != theirs.npos) {
      ++refused;
    } else if (whole ? (' ' + theirs).find(' ' + ours) != theirs.npos : theirs == ours) {
      ++same;
    } else if (++other <= 5) {
      std::cout << names[i] << "\n  llvm " << theirs << "\n  ours " << ours << "\n";
    }
  }
  std::cout << names.size() << " names: the same " << same << ", another " << other << ", llvm refuses "
            << refused << "\n";
  EXPECT_GT(same, least_same);
  EXPECT_LE(other, names.size() / 500);
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
  expect_undname_agrees(names, false, 1500);
}

TEST(DemangleOracleTest, NamesOfClangForWindowsAgreeWithLlvmUndname) {
  std::string problem;
  const auto names = test::mangled_names_in(MIXWALK_MADE_NAMES "x86_64-pc-windows-msvc.o", problem, "?");
  ASSERT_EQ(problem, "");
  expect_undname_agrees(names, true, 10'000);
}

// C++/CLI: $$F is behind the name of a managed function, $$H behind that of a native one which managed code calls. No
// compiler here makes such names. So each mark is put behind each "@@" of clang's names that a capital letter follows.
// That is the name's end, or the end of a type's name, where no mark belongs and the name must stay as it is.
TEST(DemangleOracleTest, ManagedFunctionsHaveTheNamesOfNativeOnes) {
  std::string problem;
  const auto names = test::mangled_names_in(MIXWALK_MADE_NAMES "x86_64-pc-windows-msvc.o", problem, "?");
  ASSERT_EQ(problem, "");
  const std::vector<std::string> oracle = test::ask_llvm_undname(names, true, problem);
  ASSERT_EQ(problem, "");
  std::size_t same = 0, other = 0, raw = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string theirs = ' ' + as_we_write(oracle[i]), native = demangle(names[i]);
    if (oracle[i].empty() || theirs.find(' ' + native) == theirs.npos) continue;  // as in the test above
    for (std::size_t at = names[i].find("@@"); at != std::string::npos; at = names[i].find("@@", at + 1)) {
      const char next = at + 2 < names[i].size() ? names[i][at + 2] : '@';
      if (next < 'A' || next > 'Z') continue;
      for (const char* const mark : {"$$F", "$$H"}) {
        const std::string name = std::string(names[i]).insert(at + 2, mark), ours = demangle(name);
        ++(ours == name ? raw : ours == native ? same : other);
        if (ours != name && ours != native && other <= 5) std::cout << name << "\n  ours " << ours << "\n";
      }
    }
  }
  std::cout << "managed functions: the same " << same << ", another " << other << ", raw " << raw << "\n";
  EXPECT_GE(same, 10'000u);
  EXPECT_GT(raw, 0u);
  EXPECT_EQ(other, 0u);
}

// "Key<17>", which each name of made_values.cpp has; empty if there is none.
std::string key_of(const std::string& name) {
  const std::size_t at = name.find("Key<");
  return at == name.npos ? std::string() : name.substr(at, name.find('>', at) + 1 - at);
}

// The text of a name for Linux, as it is for Windows: values say less about their types there, and pointers to
// functions nothing about parameters.
std::string as_for_windows(std::string text) {
  static const std::regex arrays(R"([\w:]+ \[\d+\]\{)"), casts(R"(\((unsigned )?(char|short|values::Scoped)\))"),
      suffixes(R"((\d)[ul]+\b)");
  text = std::regex_replace(text, arrays, "{");
  text = std::regex_replace(text, casts, "");
  text = std::regex_replace(text, suffixes, "$1");
  remove_all(text, "true", "1");
  remove_all(text, "&values::function(values::Point*)", "&values::function");
  remove_all(text, "(anonymous namespace)", "`anonymous namespace'");
  return text;
}

// llvm-undname 19 knows no values of classes. But llvm-cxxfilt does, so it says what the same functions are called in
// the program for Linux.
TEST(DemangleOracleTest, ValuesOfClassesAreThoseOfTheProgramForLinux) {
  std::string problem;
  const auto for_windows = test::mangled_names_in(MIXWALK_MADE_VALUES "x86_64-pc-windows-msvc.o", problem, "?");
  ASSERT_EQ(problem, "");
  const auto for_linux = test::mangled_names_in(MIXWALK_MADE_VALUES "x86_64-linux-gnu.o", problem);
  ASSERT_EQ(problem, "");
  const auto oracle = test::ask_filter(test::Filter::llvm_cxxfilt, for_linux, problem);
  ASSERT_EQ(problem, "");
  std::map<std::string, std::string> texts;
  for (const std::string& text : oracle) {
    if (const std::string key = key_of(text); !key.empty()) texts[key] = as_for_windows(text);
  }
  std::size_t same = 0, other = 0, raw = 0;
  for (const std::string& name : for_windows) {
    if (name.find("?$Key@") == name.npos) continue;
    std::string ours = demangle(name);
    if (ours == name) {
      if (++raw <= 5) std::cout << name << "\n  raw\n";
      continue;
    }
    std::string theirs = ' ' + texts[key_of(ours)];
    for (const char* const mark : {"*", "&"}) {
      remove_all(ours, std::string(" ") + mark, mark);
      remove_all(theirs, std::string(" ") + mark, mark);
    }
    if (theirs.ends_with(' ' + ours)) {
      ++same;
    } else if (++other <= 5) {
      std::cout << name << "\n  llvm " << theirs << "\n  ours " << ours << "\n";
    }
  }
  std::cout << "values of classes: the same " << same << ", another " << other << ", raw " << raw << "\n";
  EXPECT_GE(same, 2000u);
  EXPECT_EQ(other, 0u);
  EXPECT_EQ(raw, 0u);
}

struct Counts {
  std::size_t same = 0, other = 0, refused = 0;
};

// `as_ours` turns the oracle's text into our form.
template <class AsOurs>
Counts compare(test::Filter filter, const std::vector<std::string>& names, AsOurs as_ours) {
  std::string problem;
  const std::vector<std::string> oracle = test::ask_filter(filter, names, problem);
  EXPECT_EQ(problem, "");
  Counts counts;
  for (std::size_t i = 0; i < oracle.size() && problem.empty(); ++i) {
    const std::string ours = as_ours(demangle(names[i])), theirs = as_ours(oracle[i]);
    if (theirs == names[i]) {
      ++counts.refused;
    } else if (ours == theirs) {
      ++counts.same;
    } else if (++counts.other <= 5) {
      std::cout << names[i] << "\n  oracle " << theirs << "\n  ours   " << ours << "\n";
    }
  }
  std::cout << names.size() << " names: the same " << counts.same << ", another " << counts.other
            << ", the oracle refuses " << counts.refused << "\n";
  return counts;
}

std::string unchanged(std::string text) { return text; }

TEST(DemangleOracleTest, RustNamesAgreeWithTwoTools) {
  const std::vector<std::string> names = test::rust_names(3000);
  const Counts llvm = compare(test::Filter::llvm_cxxfilt, names, unchanged);
  EXPECT_GT(llvm.same, 2000u);
  EXPECT_EQ(llvm.other, 0u);
  const Counts binutils = compare(test::Filter::binutils_cxxfilt, names, unchanged);
  EXPECT_GT(binutils.same, 2000u);
  EXPECT_EQ(binutils.other, 0u);
}

TEST(DemangleOracleTest, OlderRustNamesAgreeWithBinutils) {
  const Counts binutils = compare(test::Filter::binutils_cxxfilt, test::legacy_rust_names(3000), unchanged);
  EXPECT_GT(binutils.same, 2000u);
  EXPECT_EQ(binutils.other, 0u);
}

// The binutils' tool sets spaces in another way, and has other texts for lambdas, clones and declval.
std::string without_spaces(std::string text) {
  for (const char* const other : {"lambda", "[clone", " (.", "declval"}) {
    if (text.find(other) != text.npos) return std::string(other == std::string_view(" (.") ? "[clone" : other);
  }
  std::erase(text, ' ');
  return text;
}

// More names than these must be the same, and none another for llvm-cxxfilt. Returns how many are another for binutils.
std::size_t compare_with_two_tools(const std::vector<std::string>& names, std::size_t llvm_same,
                                   std::size_t binutils_same) {
  const Counts llvm = compare(test::Filter::llvm_cxxfilt, names, unchanged);
  EXPECT_GT(llvm.same, llvm_same);
  EXPECT_EQ(llvm.other, 0u);
  const Counts binutils = compare(test::Filter::binutils_cxxfilt, names, without_spaces);
  EXPECT_GT(binutils.same, binutils_same);
  return binutils.other;
}

// The program's own names: concepts, ranges, lambdas, and all that googletest and the standard library have.
TEST(DemangleOracleTest, NamesOfThisProgramAgreeWithTwoTools) {
  std::string problem;
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::vector<std::string> names = test::mangled_names_in(program, problem);
  ASSERT_EQ(problem, "");
  EXPECT_LE(compare_with_two_tools(names, 2000, 2000), names.size() / 50);
}

TEST(DemangleOracleTest, NamesOfClangForLinuxAgreeWithTwoTools) {
  std::string problem;
  const auto names = test::mangled_names_in(MIXWALK_MADE_NAMES "x86_64-linux-gnu.o", problem);
  ASSERT_EQ(problem, "");
  compare_with_two_tools(names, 10'000, 8000);
}

// MIXWALK_MADE_OBJECT is an object file, such as one that clang 19 makes of made_names_23.cpp.
TEST(DemangleOracleTest, NamesOfAnObjectFileOnRequest) {
  const char* const object = std::getenv("MIXWALK_MADE_OBJECT");
  if (object == nullptr) GTEST_SKIP() << "on request: MIXWALK_MADE_OBJECT";
  std::string problem;
  const auto for_windows = test::mangled_names_in(object, problem, "?");
  ASSERT_EQ(problem, "");
  if (!for_windows.empty()) {
    expect_undname_agrees(for_windows, true, 0);
    return;
  }
  const auto names = test::mangled_names_in(object, problem);
  ASSERT_EQ(problem, "");
  ASSERT_FALSE(names.empty());
  compare_with_two_tools(names, 0, 0);
}

}  // namespace
}  // namespace mixwalk
