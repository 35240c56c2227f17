#include "walker/target/target_images.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "symbols/symboliser.h"
#include "tests/builders/dump_samples.h"
#include "tests/builders/image_builder.h"
#include "tests/builders/pdb_samples.h"
#include "tests/walker/target/fake_files.h"
#include "walker/naming/symbolise.h"
#include "walker/target/dump_target.h"

namespace mixwalk {
namespace {

using namespace test;

class TargetImagesTest : public ::testing::Test {
 protected:
  // Returns the name of an address in the first module: "name kind", or "none".
  std::string name_at(const DumpBuilder& dump, std::uint64_t address) {
    const auto file = dump.build();
    const Minidump read = Minidump::parse(file);
    EXPECT_EQ(read.error(), MinidumpError::none);
    DiskImages disk(local_, folder_, path_);
    DumpTarget target(read, disk);
    TargetImages images(disk, target.dumped_memory(), target.images());
    Symboliser symboliser(images, folder_, path_);
    const auto found = symboliser.name(loaded_image(target.modules()[0]), {address});
    missing_ = symboliser.missing();
    if (!found) return "none";
    return found->symbol.name() + (found->symbol.kind == SymbolKind::pdb ? " pdb" : "");
  }
  static DumpBuilder without_memory() {
    DumpBuilder dump;
    dump.module(kAppBase, static_cast<std::uint32_t>(loaded(app_image()).size()), ImageBuilder::kTimestamp,
                "C:\\app\\app.exe", DumpBuilder::rsds(7, 1, "C:\\build\\app.pdb"));
    return dump.thread({.id = 1});
  }

  FakeFiles local_, folder_;
  SymbolPath path_ = parse_symbol_path("/symbols");
  std::vector<MissingPdb> missing_;
};

TEST_F(TargetImagesTest, TheDumpsMemoryHasTheExports) {
  EXPECT_EQ(name_at(two_frames(), kInApp), "work");
  // The PDB is looked for by the id of the image in memory.
  ASSERT_EQ(missing_.size(), 1u);
  EXPECT_EQ(missing_[0].name, "app.pdb");
}

TEST_F(TargetImagesTest, ThePdbOfAnImageThatIsInMemoryOnly) {
  folder_.files["/symbols/app.pdb"] = pdb_with_inlining().build();
  EXPECT_EQ(name_at(two_frames(), kAppBase + PdbBuilder::kCode), "ns::outer pdb");
}

TEST_F(TargetImagesTest, ThePdbOfAnImageThatIsNowhere) {
  EXPECT_EQ(name_at(without_memory(), kAppBase + PdbBuilder::kCode), "none");
  ASSERT_EQ(missing_.size(), 1u);
  folder_.files["/symbols/app.pdb"] = pdb_with_inlining().build();
  EXPECT_EQ(name_at(without_memory(), kAppBase + PdbBuilder::kCode), "ns::outer pdb");
}

TEST_F(TargetImagesTest, AFileOfAnotherBuildNamesNothing) {
  auto other = app_image();
  ImageBuilder::put32(other, ImageBuilder::kPeAt + 8, 1);
  folder_.files["/symbols/app.exe"] = other;
  EXPECT_EQ(name_at(without_memory(), kInApp), "none");
  folder_.files["/symbols/app.exe"] = app_image();
  EXPECT_EQ(name_at(without_memory(), kInApp), "work");
}

TEST_F(TargetImagesTest, PathsOfTheTargetAreAskedOfTheLocalFilesOnly) {
  name_at(without_memory(), kInApp);
  EXPECT_THAT(local_.asked, ::testing::Contains("C:\\app\\app.exe"));
  for (const std::string& path : folder_.asked) EXPECT_TRUE(path.starts_with("/symbols/")) << path;
}

TEST_F(TargetImagesTest, ADamagedImageInMemoryIsNotRead) {
  auto image = loaded(app_image());
  ImageBuilder::put32(image, 0x3C, 0xFFFF'FFF0);
  DumpBuilder dump = without_memory();
  dump.memory(kAppBase, image);
  EXPECT_EQ(name_at(dump, kInApp), "none");
}

}  // namespace
}  // namespace mixwalk
