// Checks names by exports alone. The truth is the PDB of the same image, as our reader and as llvm-symbolizer read it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <random>

#include "symbols/pdb/pdb_symbols.h"
#include "symbols/pe_exports.h"
#include "tests/oracles/symbolizer_oracle.h"
#include "tests/symbols/pdb/pdb_files.h"

namespace mixwalk {
namespace {

constexpr std::size_t kAddresses = 10'000;
// llvm-symbolizer needs some 5 ms for each address of a PDB, so only one name in this many is compared with its answer.
constexpr std::size_t kEachOfOracle = 20;

// Half of the addresses are in the functions at which exports begin, and in the code behind these; the others are
// anywhere in the code.
std::vector<std::uint32_t> addresses_of(const PeImage& image) {
  std::vector<std::uint32_t> everywhere, near_exports, asked;
  for (const PeSection& section : image.sections()) {
    for (std::uint32_t rva = section.rva; section.executable && section.contains(rva); ++rva) everywhere.push_back(rva);
  }
  for (const PeExport& found : image.exports()) {
    for (std::uint32_t rva = found.rva; found.forwarder.empty() && rva < found.rva + 256; ++rva) {
      if (image.is_code(rva)) near_exports.push_back(rva);
    }
  }
  std::mt19937 random(13);
  std::sample(near_exports.begin(), near_exports.end(), std::back_inserter(asked), kAddresses / 2, random);
  std::sample(everywhere.begin(), everywhere.end(), std::back_inserter(asked), kAddresses - asked.size(), random);
  return asked;
}

// llvm-symbolizer is asked about one name in `each`.
void expect_no_wrong_names(const std::string& path, std::size_t each) {
  const auto image = test::read_image(path);
  ASSERT_EQ(image->image.error(), PeError::none) << path;
  const OpenedPdb pdb = open_pdb(test::read_pdb(std::filesystem::path(path).replace_extension(".pdb").string()), image);
  ASSERT_NE(pdb.index, nullptr) << path << ": " << to_string(pdb.error);

  // A name is right if the export begins the function that contains the address. So our reader of the PDB must say that
  // this function begins there, and llvm-symbolizer must give the function the same name.
  const PeExports exports(image);
  int right = 0, without_truth = 0, wrong = 0;
  std::vector<std::uint32_t> named, begins;
  SourceLocation truth;
  const std::vector<std::uint32_t> asked = addresses_of(image->image);
  for (const std::uint32_t rva : asked) {
    const auto symbol = exports.find(rva);
    if (!symbol) continue;
    named.push_back(rva);
    begins.push_back(symbol->rva);
    if (!pdb.index->find(rva, truth)) {
      ++without_truth;
    } else if (truth.begin == symbol->rva) {
      ++right;
    } else {
      ++wrong;
      ADD_FAILURE() << std::hex << rva << " is " << truth.frames.back().name << " of " << truth.begin << ", not "
                    << symbol->name() << " of " << symbol->rva;
    }
  }
  std::vector<std::uint32_t> some, some_begins;
  for (std::size_t i = 0; i < named.size(); i += each) {
    some.push_back(named[i]);
    some_begins.push_back(begins[i]);
  }
  std::string problem;
  const auto here = test::ask_llvm_symbolizer(path, some, test::OracleNames::decorated, problem);
  const auto there = test::ask_llvm_symbolizer(path, some_begins, test::OracleNames::decorated, problem);
  ASSERT_EQ(problem, "");
  for (std::size_t i = 0; i < some.size(); ++i) {
    EXPECT_EQ(here[i].back().function, there[i].back().function) << std::hex << some[i] << " of " << some_begins[i];
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(right, 100);
  std::cout << path << ": of " << asked.size() << " addresses exports name " << right << " right and " << wrong
            << " wrong, and " << without_truth << " that the PDB does not know; " << some.size()
            << " held against llvm-symbolizer\n";
}

// A DLL by another author that was published with its PDB (tests/tools/install fetches it).
TEST(PdbWrongNamesTest, PublishedDll) { expect_no_wrong_names(MIXWALK_NUGET "/libHarfBuzzSharp.dll", kEachOfOracle); }

// MIXWALK_PDB_IMAGE is another image, with its PDB beside it.
TEST(PdbWrongNamesTest, ImageOfTheCaller) {
  const char* const image = std::getenv("MIXWALK_PDB_IMAGE");
  if (image == nullptr) GTEST_SKIP() << "on request: MIXWALK_PDB_IMAGE";
  expect_no_wrong_names(image, 1);
}

}  // namespace
}  // namespace mixwalk
