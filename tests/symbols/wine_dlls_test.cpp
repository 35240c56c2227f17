// The parser and the export names, on images by other authors, compared with binutils.

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <map>
#include <random>

#include "symbols/dwarf/dwarf_symbols.h"
#include "symbols/pe_exports.h"
#include "tests/oracles/binutils_oracle.h"

namespace mixwalk {
namespace {

using test::OracleImage;

// Asks once for each image, since the answers are thousands of lines.
const OracleImage& binutils_say(const std::string& path) {
  static std::map<std::string, OracleImage> answers;
  const auto [at, is_new] = answers.try_emplace(path);
  if (is_new) {
    at->second = test::ask_binutils(path);
    std::ranges::sort(at->second.functions);
  }
  return at->second;
}

class WineDllTest : public testing::TestWithParam<std::string> {
 protected:
  WineDllTest() : path_(test::wine_dll(GetParam())), oracle_(binutils_say(path_)) {}
  void SetUp() override {
    ASSERT_EQ(oracle_.problem, "");
    file_ = std::make_shared<const ImageFile>(path_, test::read_file(path_));
    ASSERT_EQ(file_->image.error(), PeError::none);
  }

  const std::string path_;
  const OracleImage& oracle_;
  std::shared_ptr<const ImageFile> file_;
};

TEST_P(WineDllTest, ExportsAreThoseOfObjdump) {
  std::map<std::uint32_t, OracleImage::Export> exports;
  std::set<std::pair<std::string, std::uint32_t>> names;
  for (const PeExport& found : file_->image.exports()) {
    // objdump gives the RVA of a forwarder's text, which the parser does not give.
    const auto listed = oracle_.exports.find(found.ordinal);
    const bool takes_theirs = !found.forwarder.empty() && listed != oracle_.exports.end();
    const std::uint32_t rva = takes_theirs ? listed->second.rva : found.rva;
    exports[found.ordinal] = {rva, std::string(found.forwarder)};
    if (!found.name.empty()) names.emplace(found.name, found.ordinal);
  }
  EXPECT_EQ(exports, oracle_.exports);
  EXPECT_EQ(names, oracle_.names);
}

TEST_P(WineDllTest, FunctionsAreThoseOfObjdump) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> functions;
  for (const PeImage::Function& function : file_->image.functions()) {
    functions.emplace_back(function.begin, function.end);
    EXPECT_EQ(function.primary, function.begin);  // gcc chains no entries
  }
  EXPECT_EQ(functions, oracle_.functions);
}

// The linker's symbol table has all functions, exported and static. Each is looked up at its first byte, its second, in
// the middle and at its last byte.
TEST_P(WineDllTest, NoFunctionHasTheNameOfAnother) {
  const PeExports exports(file_);
  std::map<std::uint32_t, std::set<std::string>> aliases;
  for (const PeExport& found : file_->image.exports()) {
    if (found.rva != 0) aliases[found.rva].insert(std::string(found.name));
  }
  int right = 0, alias = 0, nameless_static = 0, nameless_exported = 0, wrong = 0;
  for (auto at = oracle_.code_symbols.begin(); at != oracle_.code_symbols.end(); ++at) {
    const std::uint32_t begin = at->first;
    const auto after = std::next(at);
    std::uint32_t end = after == oracle_.code_symbols.end() ? begin + 1 : after->first;
    // The code behind a function's entry is padding.
    const PeImage::Function* function = file_->image.function_at(begin);
    if (function != nullptr) end = std::min(end, function->end);
    for (const std::uint32_t rva :
         std::set{begin, std::min(begin + 1, end - 1), begin + (end - begin) / 2, end - 1}) {
      const auto symbol = exports.find(rva);
      if (!symbol) {
        ++(aliases.contains(begin) ? nameless_exported : nameless_static);
      } else if (symbol->rva != begin) {
        ++wrong;
        ADD_FAILURE() << std::hex << rva << " is " << *at->second.begin() << ", not "
                      << symbol->name() << " of " << symbol->rva;
      } else if (at->second.contains(symbol->name())) {
        ++right;
      } else if (aliases[begin].contains(symbol->name()) || symbol->name().starts_with('#')) {
        ++alias;  // the export table's own name for the function that starts here
      } else {
        ++wrong;
        ADD_FAILURE() << std::hex << begin << " is not " << symbol->name();
      }
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(right, 100);
  std::cout << GetParam() << ": functions " << oracle_.code_symbols.size() << "; asked "
            << right + alias + nameless_static + nameless_exported + wrong << " addresses: right "
            << right << ", right by the export's own name " << alias << ", wrong " << wrong
            << ", no name: static " << nameless_static << ", exported " << nameless_exported
            << "\n";
}

INSTANTIATE_TEST_SUITE_P(Wine, WineDllTest, testing::ValuesIn(test::kWineDlls),
                         [](const auto& info) {
                           return info.param.substr(0, info.param.find('.'));
                         });

// Checks names by exports alone, with the DWARF of the same images as the truth.
class WrongNamesTest : public testing::TestWithParam<std::string> {};

TEST_P(WrongNamesTest, NoneInTenThousandAddresses) {
  constexpr std::size_t kAddresses = 10'000;
  const std::string path = test::wine_dll(GetParam());
  ASSERT_NE(path, "") << "no Wine DLLs: install wine64";
  const auto file = std::make_shared<const ImageFile>(path, test::read_file(path));
  DiskImageFiles files;
  const DwarfSymbols dwarf = open_dwarf(file, files);
  ASSERT_NE(dwarf.index, nullptr) << dwarf.problem;
  std::vector<std::uint32_t> all, asked;
  for (const PeSection& section : file->image.sections()) {
    for (std::uint32_t rva = section.rva; section.executable && section.contains(rva); ++rva) all.push_back(rva);
  }
  std::sample(all.begin(), all.end(), std::back_inserter(asked), kAddresses, std::mt19937(13));
  const PeExports exports(file);
  int named = 0, without_truth = 0, wrong = 0;
  for (const std::uint32_t rva : asked) {
    const auto symbol = exports.find(rva);
    if (!symbol) continue;
    SourceLocation truth;
    if (!dwarf.index->find(rva, truth)) {
      ++without_truth;
    } else if (truth.begin == symbol->rva || truth.frames.back().name == symbol->name()) {
      // The comparison is by name, because a function of Wine that can be patched while it runs begins with 8 bytes of
      // nops, which its DWARF leaves out.
      ++named;
    } else {
      ++wrong;
      ADD_FAILURE() << std::hex << rva << " is " << truth.frames.back().name << " of " << truth.begin << ", not "
                    << symbol->name() << " of " << symbol->rva;
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(named, 100);
  std::cout << GetParam() << ": of " << asked.size() << " addresses exports name " << named << " right and " << wrong
            << " wrong, and " << without_truth << " that DWARF does not know\n";
}

INSTANTIATE_TEST_SUITE_P(Wine, WrongNamesTest, testing::Values("ntdll.dll", "ole32.dll"),
                         [](const auto& info) { return info.param.substr(0, info.param.find('.')); });

// The threads of every process wait in stubs without unwind data, and may be at any byte of a stub.
TEST(WineSystemCallTest, StubIsNamedWhereverAThreadStands) {
  const std::string path = test::wine_dll("ntdll.dll");
  ASSERT_NE(path, "") << "no Wine DLLs: install wine64";
  const auto file = std::make_shared<const ImageFile>(path, test::read_file(path));
  const PeExports exports(file);
  int stubs = 0;
  for (const PeExport& found : file->image.exports()) {
    if (!found.name.starts_with("NtWaitFor")) continue;
    ++stubs;
    for (std::uint32_t i = 0; i < 32; ++i) {
      const auto symbol = exports.find(found.rva + i);
      ASSERT_TRUE(symbol) << found.name << "+" << i;
      EXPECT_EQ(symbol->name(), found.name);
      EXPECT_EQ(symbol->rva, found.rva);
    }
  }
  EXPECT_GE(stubs, 2);
}

}  // namespace
}  // namespace mixwalk
