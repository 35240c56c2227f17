// Function names, inlined calls and lines by DWARF, compared with llvm-symbolizer: on programs that different compilers
// made (CMakeLists.txt), and on Wine's DLLs, which are by other authors.

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <map>

#include "symbols/dwarf/dwarf_symbols.h"
#include "symbols/native_symbols.h"
#include "tests/oracles/binutils_oracle.h"
#include "tests/oracles/symbolizer_oracle.h"

namespace mixwalk {
namespace {

using test::OracleChain;

constexpr std::size_t kEveryInstruction = 0;

// The number of addresses for each Wine DLL. MIXWALK_SYMBOL_ADDRESSES sets another number; 0 means every instruction.
std::size_t addresses_of_a_dll() {
  const char* const text = std::getenv("MIXWALK_SYMBOL_ADDRESSES");
  return text == nullptr ? 10'000 : std::strtoull(text, nullptr, 10);
}

// Removes the suffixes of gcc's names for copies of a function ("f.constprop.0", "f.part.1.isra.0"). The linker's
// symbols have such names, and the debug information has the function's own name.
std::string without_clone(std::string_view name) {
  return std::string(name.substr(0, name.find('.', name.starts_with('.') ? 1 : 0)));
}

struct Comparison {
  std::map<std::string, int> kinds;             // kind of difference → number of addresses
  std::map<std::string, std::string> examples;  // one example for each kind
  int addresses = 0, wrong_chains = 0, wrong_names = 0;

  void print(const std::string& title) const {
    std::cout << title << ": " << addresses << " addresses, chain or line differs at " << wrong_chains
              << ", the function's name at " << wrong_names << "\n";
    for (const auto& [kind, count] : kinds) {
      std::cout << "  " << count << " " << kind;
      if (const auto at = examples.find(kind); at != examples.end()) std::cout << ": " << at->second;
      std::cout << "\n";
    }
  }
};

class Comparer {
 public:
  // `whole` is the same image, unstripped, for the oracle.
  Comparer(const std::string& path, const std::string& whole)
      : whole_(whole),
        file_(std::make_shared<const ImageFile>(path, test::read_file(path))),
        coff_(CoffFile::parse(file_->bytes)),
        dwarf_(open_dwarf(file_, disk_)) {
    const CoffSymbols& linked = dwarf_.linked_symbols;
    by_linker_ = linked.starts().empty() ? CoffSymbols(coff_) : linked;
  }

  const std::string& problem() const { return dwarf_.problem; }

  Comparison compare(std::size_t count, std::string& problem) {
    Comparison result;
    const std::vector<std::uint32_t> rvas =
        count == kEveryInstruction
            ? test::instructions(whole_, file_->image, coff_.image_base(), problem)
            : test::addresses_in_functions(file_->image, count);
    std::vector<std::uint64_t> addresses;
    for (const std::uint32_t rva : rvas) addresses.push_back(coff_.image_base() + rva);
    const std::vector<OracleChain> oracle = test::ask_llvm_symbolizer(whole_, addresses, problem);
    if (!problem.empty()) return result;
    NativeSymbols symbols(file_, std::move(dwarf_.index), dwarf_.linked_symbols);
    SourceLocation found;
    for (std::size_t i = 0; i < rvas.size(); ++i) {
      const NameSource source = symbols.find(rvas[i], found);
      ++result.addresses;
      const std::string kind = kind_of(rvas[i], oracle[i], found, source, result);
      if (result.kinds[kind]++ == 0 && kind != "same") {
        result.examples[kind] = example(addresses[i], oracle[i], found);
      }
    }
    return result;
  }

 private:
  std::string kind_of(std::uint32_t rva, const OracleChain& oracle, const SourceLocation& found,
                      NameSource source, Comparison& result) const {
    std::string kind;
    if (oracle.size() != found.frames.size()) {
      kind = "another depth";
    } else {
      for (std::size_t i = 0; i < oracle.size(); ++i) {
        const SourceFrame& ours = found.frames[i];
        const bool last = i + 1 == oracle.size();
        if (!last && oracle[i].function != ours.name) kind = "another inlined function";
        if (oracle[i].line != ours.line) kind = "another line";
        if (oracle[i].file != ours.file) kind = "another file";
      }
    }
    if (!kind.empty()) {
      ++result.wrong_chains;
      return kind;
    }
    const std::string& theirs = oracle.back().function;
    const std::string_view ours = found.frames.back().name;
    if (theirs == ours) return "same";
    if (without_clone(theirs) == without_clone(ours)) return "same but for the clone's suffix";
    if (source == NameSource::none) return ++result.wrong_names, "no name";
    // The name is that of a static function, taken from its section (CoffSymbols).
    if (theirs.empty() && source == NameSource::symbols) return "only we know a name";
    // llvm-symbolizer uses the name of the nearest symbol, which may also be a label inside the function.
    const auto nearest = by_linker_.function_before(rva);
    if (nearest != nullptr && without_clone(nearest->name) == without_clone(ours)) {
      return "a label, or another name of the same function";
    }
    return ++result.wrong_names, "another function";
  }

  static std::string example(std::uint64_t address, const OracleChain& oracle, const SourceLocation& found) {
    char number[32];
    std::snprintf(number, sizeof number, "0x%llx", static_cast<unsigned long long>(address));
    std::string text = number;
    text += "\n    llvm";
    for (const auto& frame : oracle) {
      text += " | " + frame.function + " " + frame.file + ":" + std::to_string(frame.line);
    }
    text += "\n    ours";
    for (const auto& frame : found.frames) {
      text +=
          " | " + std::string(frame.name) + " " + std::string(frame.file) + ":" + std::to_string(frame.line);
    }
    return text;
  }

  std::string whole_;
  DiskImageFiles disk_;
  std::shared_ptr<const ImageFile> file_;
  CoffFile coff_;
  CoffSymbols by_linker_;
  DwarfSymbols dwarf_;
};

void expect_agreement(const std::string& title, const std::string& path, const std::string& whole,
                      std::size_t addresses) {
  Comparer comparer(path, whole);
  ASSERT_EQ(comparer.problem(), "");
  std::string problem;
  const Comparison result = comparer.compare(addresses, problem);
  ASSERT_EQ(problem, "");
  result.print(title);
  ASSERT_GE(result.addresses, static_cast<int>(addresses == kEveryInstruction ? 10'000 : addresses));
  EXPECT_LE(result.wrong_chains, result.addresses / 1000);  // at least 99.9 % are right
  EXPECT_LE(result.wrong_names, result.addresses / 100);    // at least 99 % are right
}

class CompiledSampleTest : public testing::TestWithParam<const char*> {};

TEST_P(CompiledSampleTest, EveryInstructionAgreesWithLlvmSymbolizer) {
  const std::string path = std::string(MIXWALK_DWARF_SAMPLES "/sample_") + GetParam() + ".exe";
  expect_agreement(GetParam(), path, path, kEveryInstruction);
}

INSTANTIATE_TEST_SUITE_P(Compilers, CompiledSampleTest,
                         testing::Values("gcc_O0", "gcc_O2", "gcc_O2_dwarf4", "gcc_O3_lto",
                                         "clang_O2_dwarf4"),
                         [](const auto& info) { return info.param; });

// The debug file is named by .gnu_debuglink, as binutils make it.
TEST(StrippedSampleTest, DebugFileSaysWhatTheImageSaid) {
  const std::string folder = MIXWALK_DWARF_SAMPLES;
  expect_agreement("stripped", folder + "/stripped.exe", folder + "/sample_gcc_O2.exe", kEveryInstruction);
}

TEST(CompressedSampleTest, SaysWhatTheUncompressedOneSays) {
  const std::string folder = MIXWALK_DWARF_SAMPLES;
  expect_agreement("compressed", folder + "/sample_compressed.exe", folder + "/sample_gcc_O2.exe", kEveryInstruction);
}

// llvm-symbolizer does not find the .dwo files of PE files, so it is asked about the program that was not split.
class SplitSampleTest : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(SplitSampleTest, SaysWhatTheWholeOneSays) {
  const std::string folder = MIXWALK_DWARF_SAMPLES "/sample_";
  const auto [split, whole] = GetParam();
  expect_agreement(split, folder + split + ".exe", folder + whole + ".exe", kEveryInstruction);
}

INSTANTIATE_TEST_SUITE_P(Versions, SplitSampleTest,
                         testing::Values(std::pair("split_dwarf4", "gcc_O2_dwarf4"),
                                         std::pair("split_dwarf5", "gcc_O2")),
                         [](const auto& info) { return info.param.first; });

class WineDwarfTest : public testing::TestWithParam<const char*> {};

TEST_P(WineDwarfTest, InstructionsAgreeWithLlvmSymbolizer) {
  const std::string path = test::wine_dll(std::string(GetParam()) + ".dll");
  ASSERT_NE(path, "") << "no Wine DLLs: install wine64";
  expect_agreement(GetParam(), path, path, addresses_of_a_dll());
}

INSTANTIATE_TEST_SUITE_P(Wine, WineDwarfTest, testing::Values("ntdll", "ole32", "mshtml"),
                         [](const auto& info) { return info.param; });

// Tests any other image: MIXWALK_SYMBOL_IMAGE=PATH, for example the large one that tests/bench/symbols makes.
TEST(ImageOnRequestTest, InstructionsAgreeWithLlvmSymbolizer) {
  const char* const path = std::getenv("MIXWALK_SYMBOL_IMAGE");
  if (path == nullptr) return;
  expect_agreement(path, path, path, addresses_of_a_dll());
}

}  // namespace
}  // namespace mixwalk
