#include "symbols/pdb/pdb_finder.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/builders/image_builder.h"
#include "tests/builders/pdb_samples.h"
#include "tests/builders/portable_pdb_builder.h"

namespace mixwalk {
namespace {

class FakeFiles final : public ImageFiles {
 public:
  std::optional<std::vector<std::byte>> read(const std::string& path) override {
    asked.push_back(path);
    const auto found = files.find(path);
    return found == files.end() ? std::nullopt : std::optional(found->second);
  }
  std::map<std::string, std::vector<std::byte>> files;
  std::vector<std::string> asked;
};

std::shared_ptr<const ImageFile> image() {
  return std::make_shared<const ImageFile>(
      R"(C:\app\app.exe)", test::ImageBuilder().code_view(7, 1, R"(\\server\build\app.pdb)").build());
}
const std::string kStored = R"(D:\store\app.pdb\070707070707070707070707070707071\app.pdb)";

TEST(PdbFinderTest, FirstFileThatIsTheImagesOwn) {
  FakeFiles files;
  files.files[R"(C:\app\app.pdb)"] = std::vector<std::byte>(10);
  test::PdbBuilder other = test::pdb_with_inlining();
  other.guid = 9;
  files.files[R"(D:\sym\app.pdb)"] = other.build();
  files.files[kStored] = test::pdb_with_inlining().build();
  PdbFinder finder(files, files, parse_symbol_path(R"(D:\sym;srv*D:\store)"));
  const OpenedPdb opened = finder.open(image());
  ASSERT_NE(opened.index, nullptr);
  EXPECT_TRUE(finder.missing().empty());
  EXPECT_EQ(files.asked.back(), kStored);
}

TEST(PdbFinderTest, MissingOnesAreKeptOnceWithTheReasonOfTheLast) {
  FakeFiles files;
  PdbFinder finder(files, files, parse_symbol_path(R"(D:\sym)"));
  EXPECT_EQ(finder.open(image()).error, PdbError::missing);
  test::PdbBuilder other = test::pdb_with_inlining();
  other.age = other.info_age = 3;
  files.files[R"(D:\sym\app.pdb)"] = other.build();
  EXPECT_EQ(finder.open(image()).error, PdbError::other_age);
  EXPECT_EQ(symchk_manifest(finder.missing()), "app.pdb,070707070707070707070707070707071,1\n");
}

// An image names the PDB's path. A path on another machine must not be opened.
TEST(PdbFinderTest, OtherMachinesAreNotAsked) {
  FakeFiles files;
  LocalImageFiles local(files);
  PdbFinder finder(local, files, parse_symbol_path("/home/me/sym"));
  EXPECT_EQ(finder.open(image()).error, PdbError::missing);
  EXPECT_EQ(files.asked,
            (std::vector<std::string>{R"(C:\app\app.pdb)", "/home/me/sym/app.pdb",
                                      "/home/me/sym/app.pdb/070707070707070707070707070707071/app.pdb"}));
}

TEST(PdbFinderTest, ImagesThatNameNoPdb) {
  FakeFiles files;
  PdbFinder finder(files, files, {});
  const auto plain = std::make_shared<const ImageFile>("C:\\a.exe", test::ImageBuilder().build());
  EXPECT_EQ(finder.open(plain).error, PdbError::no_image_id);
  EXPECT_EQ(finder.open_portable("C:\\a.dll", plain->bytes).error, PortablePdbError::no_image_id);
  EXPECT_TRUE(finder.missing().empty());
  EXPECT_TRUE(files.asked.empty());
}

TEST(PdbFinderTest, PortablePdbBesideTheImage) {
  FakeFiles files;
  PdbFinder finder(files, files, {});
  const auto dll = test::ImageBuilder().code_view(7, 1, "/src/app.pdb", true).build();
  EXPECT_EQ(finder.open_portable("C:\\app\\app.dll", dll).error, PortablePdbError::missing);
  EXPECT_EQ(finder.missing().front().id, "07070707070707070707070707070707FFFFFFFF");
  files.files["C:\\app\\app.pdb"] = test::sample_portable_pdb().build();
  const auto opened = finder.open_portable("C:\\app\\app.dll", dll);
  ASSERT_NE(opened.pdb, nullptr);
  EXPECT_EQ(opened.pdb->find(0x06000001, 0)->line, 10u);
}

TEST(PdbFinderTest, PortablePdbWithAnotherSumIsNamed) {
  FakeFiles files;
  PdbFinder finder(files, files, parse_symbol_path(R"(D:\sym)"));
  const auto dll = test::ImageBuilder()
                       .code_view(7, 1, "/src/app.pdb", true)
                       .debug_entry(DebugEntry::kPdbChecksum, 0, {'S', 'H', 'A', '2', '5', '6', 0, 1, 2, 3})
                       .build();
  files.files["D:\\sym\\app.pdb"] = test::sample_portable_pdb().build();
  EXPECT_EQ(finder.open_portable("C:\\app\\app.dll", dll).error, PortablePdbError::altered);
  EXPECT_EQ(finder.problems(), std::vector<std::string>{"not used: D:\\sym\\app.pdb: the portable PDB is not as the "
                                                        "compiler wrote it (its checksum differs)"});
  EXPECT_EQ(finder.missing().size(), 1u);
}

TEST(PdbFinderTest, EmbeddedPortablePdbComesFirst) {
  FakeFiles files;
  PdbFinder finder(files, files, {});
  const auto dll =
      test::ImageBuilder().code_view(7, 1, "app.pdb", true).debug_entry(17, 0x100, {1, 2, 3}).build();
  EXPECT_EQ(finder.open_portable("C:\\app\\app.dll", dll).error, PortablePdbError::bad_embedding);
  EXPECT_TRUE(files.asked.empty());
}

TEST(PdbFinderTest, OfAnImageThatIsNotThereByItsId) {
  FakeFiles files;
  PdbFinder finder(files, files, parse_symbol_path(R"(srv*D:\store)"));
  LoadedImage loaded{.path = R"(C:\app\app.exe)", .size = 0x9000};
  EXPECT_EQ(finder.open(loaded).error, PdbError::no_image_id);
  loaded.code_view = code_view_id(debug_directory(image()->bytes), false);
  EXPECT_EQ(finder.open(loaded).error, PdbError::missing);
  EXPECT_EQ(finder.missing().size(), 1u);
  test::PdbBuilder other = test::pdb_with_inlining();
  other.guid = 9;
  files.files[kStored] = other.build();
  EXPECT_EQ(finder.open(loaded).error, PdbError::other_guid);
  EXPECT_EQ(finder.problems(), std::vector<std::string>{
      "not used: " + kStored + ": the PDB belongs to another image (its GUID differs)"});
  files.files[kStored] = test::pdb_with_inlining().build();
  EXPECT_NE(finder.open(loaded).index, nullptr);
}

}  // namespace
}  // namespace mixwalk
