#include "symbols/managed_lines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "symbols/portable_pdb/assembly_mvid.h"
#include "tests/builders/assembly_builder.h"
#include "tests/builders/image_builder.h"
#include "tests/builders/portable_pdb_builder.h"
#include "unmanaged/image/data_directory.h"

namespace mixwalk {
namespace {

using test::ImageBuilder;

class FakeFiles final : public ImageFiles {
 public:
  std::optional<std::vector<std::byte>> read(const std::string& path) override {
    ++questions[path];
    const auto found = files.find(path);
    return found == files.end() ? std::nullopt : std::optional(found->second);
  }
  std::vector<std::byte> read_part(const std::string& path, std::uint64_t offset, std::size_t bytes) override {
    const auto found = files.find(path);
    if (found == files.end() || offset >= found->second.size()) return {};
    const auto begin = found->second.begin() + static_cast<std::ptrdiff_t>(offset);
    const std::size_t read = std::min(bytes, found->second.size() - static_cast<std::size_t>(offset));
    parts += read;
    ++openings[path];
    return {begin, begin + static_cast<std::ptrdiff_t>(read)};
  }
  std::map<std::string, std::vector<std::byte>> files;
  std::map<std::string, int> questions, openings;  // of whole files, of parts
  std::size_t parts = 0;                           // bytes
};

std::vector<std::byte> assembly_file(std::uint8_t mvid) { return test::assembly_file({.mvid = mvid}); }

Assembly app(std::uint8_t mvid) {
  Assembly assembly{.path = "C:\\app\\app.dll"};
  assembly.mvid.fill(std::byte{mvid});
  return assembly;
}

// The assembly's file, with its PDB beside it.
FakeFiles app_and_pdb(std::uint8_t mvid) {
  FakeFiles files;
  files.files["C:\\app\\app.dll"] = assembly_file(mvid);
  files.files["C:\\app\\app.pdb"] = test::sample_portable_pdb().build();
  return files;
}

// app(9), with the id of its PDB, which its file says.
Assembly identified_app(ManagedLines& lines) {
  Assembly assembly = app(9);
  assembly.pdb = lines.pdb_of(assembly);
  EXPECT_TRUE(assembly.pdb);
  return assembly;
}

TEST(AssemblyMvid, OfAnAssembly) { EXPECT_EQ(assembly_mvid(assembly_file(9)), app(9).mvid); }

TEST(AssemblyMvid, OfAnAssemblyWithLargeHeaps) {
  for (const std::uint8_t wide_strings_guids : {1, 2, 3}) {
    EXPECT_EQ(assembly_mvid(test::assembly_file({.heap_sizes = wide_strings_guids})), app(9).mvid);
  }
}

TEST(AssemblyMvid, OfAnAssemblyWithMoreTables) {
  EXPECT_EQ(assembly_mvid(test::assembly_file({.tables = 0x0900'0000'0047})), app(9).mvid);
}

TEST(AssemblyMvid, AssemblyWithoutOneHasNone) {
  EXPECT_EQ(assembly_mvid(test::assembly_file({.tables = 0x4})), std::nullopt) << "no table Module";
  EXPECT_EQ(assembly_mvid(test::assembly_file({.modules = 0})), std::nullopt);
  EXPECT_EQ(assembly_mvid(test::assembly_file({.mvid_index = 0})), std::nullopt);
  EXPECT_EQ(assembly_mvid(test::assembly_file({.mvid_index = 3})), std::nullopt) << "beyond the heap";
}

TEST(AssemblyMvid, OfOtherFiles) {
  EXPECT_EQ(assembly_mvid(std::span<const std::byte>()), std::nullopt);
  EXPECT_EQ(assembly_mvid(ImageBuilder().build()), std::nullopt);
}

TEST(AssemblyMvid, CutOffOrWrongAnywhereIsNoCrash) {
  const auto whole = assembly_file(9);
  const std::size_t begin = ImageBuilder::offset_of(whole, test::kCliHeaderAt);
  for (std::size_t i = 0; i < begin + 0x100; ++i) {
    assembly_mvid(std::span(whole).first(i));
    auto wrong = whole;
    wrong[i] ^= std::byte{0xFF};
    assembly_mvid(wrong);
  }
}

TEST(ManagedLines, OfThePdbBesideTheAssembly) {
  FakeFiles files = app_and_pdb(9);
  ManagedLines lines(files, files, {});
  EXPECT_EQ(lines.find(app(9), 0x06000001, 0), (ManagedPlace{"/src/app/Main.cs", 10}));
  EXPECT_EQ(lines.find(app(9), 0x06000001, 9), (ManagedPlace{"C:\\Other.cs", 11}));
  EXPECT_EQ(lines.find(app(9), 0x06000002, 0), std::nullopt);
  EXPECT_EQ(files.openings["C:\\app\\app.dll"], 1) << "it is opened once";
}

TEST(ManagedLines, TheAssemblyIsReadOnceThoughItsPdbBecomesKnown) {
  FakeFiles files = app_and_pdb(9);
  ManagedLines lines(files, files, {});
  const Assembly identified = identified_app(lines);
  EXPECT_EQ(lines.find(identified, 0x06000001, 0), (ManagedPlace{"/src/app/Main.cs", 10}));
  EXPECT_EQ(files.openings["C:\\app\\app.dll"], 1);
  EXPECT_EQ(files.questions["C:\\app\\app.pdb"], 1);
}

TEST(ManagedLines, OfALargeAssemblyOnlyPartsAreRead) {
  constexpr std::size_t kLarge = 16u << 20;
  FakeFiles files = app_and_pdb(9);
  files.files["C:\\app\\app.dll"].resize(kLarge);
  ManagedLines lines(files, files, {});
  EXPECT_EQ(lines.find(app(9), 0x06000001, 0), (ManagedPlace{"/src/app/Main.cs", 10}));
  EXPECT_EQ(lines.pdb_of(app(9))->path, "app.pdb");
  EXPECT_EQ(files.questions["C:\\app\\app.dll"], 0);
  EXPECT_LT(files.parts, kLarge / 8);
  EXPECT_EQ(lines.find(app(8), 0x06000001, 0), std::nullopt) << "another build";
}

// Of a small file and of a large one.
TEST(ManagedLines, ThePdbIsCheckedByItsSum) {
  for (const std::size_t bytes : {0u, 16u << 20}) {
    FakeFiles files = app_and_pdb(9);
    auto& file = files.files["C:\\app\\app.dll"];
    file = test::assembly_file({.mvid = 9, .pdb_checksum = {'S', 'H', 'A', '2', '5', '6', 0, 1}});
    file.resize(std::max(bytes, file.size()));
    ManagedLines lines(files, files, {});
    EXPECT_EQ(lines.find(app(9), 0x06000001, 0), std::nullopt);
    ASSERT_EQ(lines.problems().size(), 1u);
    EXPECT_NE(lines.problems()[0].find("its checksum differs"), std::string::npos);
  }
}

// It may have its PDB inside.
TEST(ManagedLines, ALargeAssemblyThatNamesNoPdbIsReadWhole) {
  FakeFiles files = app_and_pdb(9);
  auto& file = files.files["C:\\app\\app.dll"];
  const FileRange directory = place_of_directory(file, 6);
  file[directory.offset + 12] = std::byte{17};  // the first entry is no longer that of a PDB
  file.resize(16u << 20);
  ManagedLines lines(files, files, {});
  EXPECT_EQ(lines.find(app(9), 0x06000001, 0), std::nullopt);
  EXPECT_EQ(files.questions["C:\\app\\app.dll"], 1);
}

// As for a dump file on another machine than the one on which it was made.
TEST(ManagedLines, AssembliesAndPdbsInTheFoldersOfTheUserThoughTheTargetsPathsAreNotRead) {
  FakeFiles named = app_and_pdb(9), folder;
  folder.files["/found/app.dll"] = assembly_file(9);
  folder.files["/found/app.pdb"] = test::sample_portable_pdb().build();
  FakeFiles none;
  ManagedLines lines(none, folder, parse_symbol_path("/found"));
  EXPECT_EQ(lines.find(app(9), 0x06000001, 0), (ManagedPlace{"/src/app/Main.cs", 10}));
  EXPECT_TRUE(lines.missing().empty());
  ManagedLines elsewhere(none, named, parse_symbol_path("/found"));
  EXPECT_EQ(elsewhere.find(app(9), 0x06000001, 0), std::nullopt) << "a path of the target is not the user's";
}

TEST(ManagedLines, AnotherBuildLiesThereNow) {
  FakeFiles files = app_and_pdb(8);
  ManagedLines lines(files, files, {});
  EXPECT_EQ(lines.find(app(9), 0x06000001, 0), std::nullopt);
  EXPECT_EQ(files.questions["C:\\app\\app.pdb"], 0);
}

TEST(ManagedLines, WithoutPdbItIsMissing) {
  FakeFiles files;
  files.files["C:\\app\\app.dll"] = assembly_file(9);
  ManagedLines lines(files, files, {});
  EXPECT_EQ(lines.find(app(9), 0x06000001, 0), std::nullopt);
  EXPECT_EQ(lines.find(app(9), 0x06000001, 9), std::nullopt);
  ASSERT_EQ(lines.missing().size(), 1u);
  EXPECT_EQ(lines.missing()[0].name, "app.pdb");
}

TEST(ManagedLines, TheFileSaysWhichPdbIsItsOwnWhateverTheCallerSays) {
  FakeFiles files = app_and_pdb(9);
  ManagedLines lines(files, files, {});
  Assembly mistaken = identified_app(lines);
  ASSERT_TRUE(mistaken.pdb);
  mistaken.pdb->guid[0] ^= std::byte{1};
  EXPECT_EQ(lines.find(mistaken, 0x06000001, 0), (ManagedPlace{"/src/app/Main.cs", 10}));
}

TEST(ManagedLines, WithoutTheAssemblyThePdbThatTheCallerKnows) {
  FakeFiles files = app_and_pdb(9);
  ManagedLines before(files, files, {});
  Assembly known = identified_app(before);
  ASSERT_TRUE(known.pdb);
  files.files.erase("C:\\app\\app.dll");
  ManagedLines lines(files, files, {});
  EXPECT_EQ(lines.find(known, 0x06000001, 0), (ManagedPlace{"/src/app/Main.cs", 10}));
  EXPECT_EQ(lines.pdb_of(known), known.pdb);
  known.pdb->guid[0] ^= std::byte{1};
  EXPECT_EQ(lines.find(known, 0x06000001, 0), std::nullopt) << "the PDB is that of another build";
}

TEST(ManagedLines, WithoutTheAssemblyThePdbIsCheckedByTheSumThatTheCallerKnows) {
  FakeFiles files = app_and_pdb(9);
  ManagedLines before(files, files, {});
  Assembly known = identified_app(before);
  known.pdb_checksums = {{"SHA256", {std::byte{1}}}};
  files.files.erase("C:\\app\\app.dll");
  ManagedLines lines(files, files, {});
  EXPECT_EQ(lines.find(known, 0x06000001, 0), std::nullopt);
  ASSERT_EQ(lines.problems().size(), 1u);
  EXPECT_NE(lines.problems()[0].find("its checksum differs"), std::string::npos);
}

TEST(ManagedLines, AnAssemblyWithoutFile) {
  FakeFiles files;
  files.files[""] = assembly_file(0);  // an assembly without a file has an MVID of zeros, as here
  files.files["app.pdb"] = test::sample_portable_pdb().build();
  ManagedLines lines(files, files, {});
  EXPECT_EQ(lines.find({}, 0x06000001, 0), std::nullopt);
  EXPECT_EQ(files.questions[""], 0);
  EXPECT_EQ(lines.find(app(9), 0x06000001, 0), std::nullopt);
  EXPECT_TRUE(lines.missing().empty());
}

}  // namespace
}  // namespace mixwalk
