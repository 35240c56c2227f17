// PDBs that compilers and linkers made, compared with llvm-symbolizer-19. The two differ in these cases (seen with LLVM
// 19.1.7, checked by hand in the records that llvm-pdbutil prints and in the sources):
// - LLVM: in an inlined call, a line that begins later (code, line, code) is sometimes also given for the code before
//   it. Ours: in the order of the annotations, like DbgHelp.
// PDBs of MSVC were compared by hand (MIXWALK_PDB_IMAGE, win/dbghelp_names.cpp). llvm-symbolizer-19 crashes on
// functions that were inlined from another module, and ends a piece of inlined code too early if one with a length
// follows it. Microsoft's DbgHelp gives the same results as our reader, except for functions folded by the linker and
// for these:
// - DbgHelp: the line 16707566 (0xFEEFEE) where no line made the code. Ours: none.
// - DbgHelp: "{ctor}", "{dtor}". Ours: the names of C++.
// - DbgHelp: no line before a function's first row (clang leaves out some at the start of inlined calls). Ours: the
//   line of the first row, like llvm-symbolizer.
// - DbgHelp: names cut off at 2,000 bytes; the nearest public symbol however far it is. Ours: whole names, or none.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <sstream>

#include "symbols/pdb/pdb_symbols.h"
#include "tests/oracles/symbolizer_oracle.h"
#include "tests/symbols/pdb/pdb_files.h"

namespace mixwalk {
namespace {

using test::OracleChain;
using test::OracleFrame;

std::string text(const OracleChain& chain) {
  std::ostringstream out;
  for (const OracleFrame& frame : chain) {
    out << "\n    " << frame.function << "  " << frame.file << ':' << frame.line;
  }
  return out.str();
}

// Returns addresses of all code, at most `most` of them, and the same ones each time.
std::vector<std::uint32_t> addresses_of(const PeImage& image, std::size_t most) {
  std::vector<std::uint32_t> all;
  for (const PeSection& section : image.sections()) {
    if (!section.executable) continue;
    for (std::uint32_t rva = section.rva; section.contains(rva); ++rva) all.push_back(rva);
  }
  std::mt19937 random(13);
  std::vector<std::uint32_t> some;
  std::sample(all.begin(), all.end(), std::back_inserter(some), most, random);
  return some;
}

struct Comparison {
  // `folded` counts functions that share their code and have other names or lines than the oracle's.
  std::size_t asked = 0, equal = 0, shared = 0, folded = 0, inlined = 0, lines = 0, names = 0, depths = 0,
              unknown = 0, publics = 0, other_publics = 0, data = 0;
  std::string examples;
};

class Comparer {
 public:
  Comparer(const std::string& path, std::size_t most) : image_(test::read_image(path)) {
    std::filesystem::path pdb(path);
    auto opened = open_pdb(test::read_pdb(pdb.replace_extension(".pdb").string()), image_);
    if (opened.index == nullptr) {
      problem = to_string(opened.error);
      return;
    }
    index_ = std::move(opened.index);
    rvas_ = addresses_of(image_->image, most);
    theirs_ = test::ask_llvm_symbolizer(path, rvas_, test::OracleNames::plain, problem);
    decorated_ = test::ask_llvm_symbolizer(path, rvas_, test::OracleNames::decorated, problem);
  }

  Comparison run() {
    for (std::size_t i = 0; i < rvas_.size(); ++i) one(rvas_[i], theirs_[i], decorated_[i].back().function);
    return result_;
  }

  std::string problem;

 private:
  void one(std::uint32_t rva, const OracleChain& theirs, const std::string& decorated) {
    const bool found = index_->find(rva, location_);
    OracleChain ours;
    if (found) {
      for (const SourceFrame& frame : location_.frames) {
        ours.push_back({std::string(frame.name), std::string(frame.file), frame.line});
      }
    }
    if (theirs.back().function.empty()) {
      // No record describes a function here. There are only public symbols, and the oracle uses the nearest of them.
      if (!found) return;
      ++result_.publics;
      result_.data += ours.back().function.starts_with("??_C@");
      if (location_.folded > 1 || one_variant(ours.back().function) == one_variant(decorated)) return;
      ++result_.other_publics;
      if (++examples_ <= 12)
        result_.examples += "\n  ours " + ours.back().function + "\n  theirs " + decorated;
      return;
    }
    ++result_.asked;
    result_.inlined += theirs.size() > 1;
    result_.shared += found && location_.folded > 1;
    if (ours == theirs) {
      ++result_.equal;
    } else if (location_.folded > 1) {
      ++result_.folded;
    } else {
      ++(ours.empty()                     ? result_.unknown
         : ours.size() != theirs.size()   ? result_.depths
         : !same_names(ours, theirs)      ? result_.names
                                          : result_.lines);
      if (++examples_ <= 12) {
        std::ostringstream where;
        where << "\n  at " << std::hex << rva << " ours" << text(ours) << "\n   theirs" << text(theirs);
        result_.examples += where.str();
      }
    }
  }
  // If a constructor or destructor has two names, either is right.
  static std::string one_variant(std::string name) {
    for (std::size_t i = 0; i + 2 < name.size(); ++i) {
      if ((name[i] == 'C' || name[i] == 'D') && name[i + 1] == '1' && name[i + 2] == 'E') name[i + 1] = '2';
    }
    return name;
  }
  static bool same_names(const OracleChain& ours, const OracleChain& theirs) {
    return std::equal(
        ours.begin(), ours.end(), theirs.begin(), theirs.end(),
        [](const OracleFrame& left, const OracleFrame& right) { return left.function == right.function; });
  }

  std::shared_ptr<const ImageFile> image_;
  std::unique_ptr<LazyIndex> index_;
  std::vector<std::uint32_t> rvas_;
  std::vector<OracleChain> theirs_, decorated_;
  SourceLocation location_;
  Comparison result_;
  int examples_ = 0;
};

constexpr std::size_t kLeastAddresses = 10'000;

// At least `least` of a hundred addresses in functions with records must be equal. Returns how many addresses lie in
// code that functions share.
std::size_t compare(const std::string& path, std::size_t most, double least) {
  Comparer comparer(path, most);
  EXPECT_EQ(comparer.problem, "") << path;
  if (!comparer.problem.empty()) return 0;
  const Comparison result = comparer.run();
  std::printf(
      "%s: %zu addresses, %zu in inlined calls, %zu in shared code: %zu equal, %zu folded, other lines %zu, "
      "names %zu, "
      "depths %zu, unknown %zu; %zu by public symbols, %zu other\n",
      path.c_str(), result.asked, result.inlined, result.shared, result.equal, result.folded, result.lines,
      result.names, result.depths, result.unknown, result.publics, result.other_publics);
  EXPECT_GE(result.asked + result.publics, kLeastAddresses);
  const std::size_t compared = result.asked - result.folded;
  EXPECT_GT(result.inlined, 0u);
  EXPECT_GE(100.0 * static_cast<double>(result.equal), least * static_cast<double>(compared))
      << result.examples;
  EXPECT_EQ(result.names + result.depths + result.unknown, 0u) << result.examples;
  EXPECT_EQ(result.other_publics, 0u) << result.examples;
  return result.shared;
}

TEST(PdbOracleTest, FreestandingDll) {
  EXPECT_GT(compare(MIXWALK_PDB_PROGRAMS "/freestanding.dll", 100'000, 99), 0u) << "nothing was folded";
}

TEST(PdbOracleTest, ProgramOfTheStandardLibrary) {
  compare(MIXWALK_PDB_PROGRAMS "/standard_library.exe", 30'000, 99);
}

// Functions of an assembler have nothing but public symbols, and these do not say that they are functions.
TEST(PdbOracleTest, PublicSymbolsOfAnAssembler) {
  Comparer comparer(MIXWALK_PDB_PROGRAMS "/publics.dll", 100'000);
  ASSERT_EQ(comparer.problem, "");
  const Comparison result = comparer.run();
  std::printf("publics.dll: %zu addresses by public symbols, %zu other\n", result.publics, result.other_publics);
  EXPECT_GE(result.publics, kLeastAddresses);
  EXPECT_EQ(result.other_publics, 0u) << result.examples;
  EXPECT_EQ(result.data, 0u) << "a text is no function";
  EXPECT_EQ(result.asked, 0u) << "these have records";
}

// MIXWALK_PDB_IMAGE is another image, with its PDB beside it; MIXWALK_PDB_ADDRESSES is the number of addresses in it.
TEST(PdbOracleTest, ImageOfTheCaller) {
  const char* const image = std::getenv("MIXWALK_PDB_IMAGE");
  if (image == nullptr) GTEST_SKIP() << "on request: MIXWALK_PDB_IMAGE";
  const char* const count = std::getenv("MIXWALK_PDB_ADDRESSES");
  compare(image, count == nullptr ? 10'000 : std::strtoul(count, nullptr, 10), 99);
}

}  // namespace
}  // namespace mixwalk
