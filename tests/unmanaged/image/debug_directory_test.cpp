#include "unmanaged/image/debug_directory.h"

#include <gtest/gtest.h>

#include "tests/builders/image_builder.h"

namespace mixwalk {
namespace {

using test::ImageBuilder;

// Reads parts of a file, and counts how much of it was read.
struct Parts {
  std::vector<std::byte> file;
  std::size_t bytes = 0;

  ReadFilePart reader() {
    return [this](std::uint64_t offset, std::size_t wanted) {
      if (offset >= file.size()) return std::vector<std::byte>();
      const auto begin = file.begin() + static_cast<std::ptrdiff_t>(offset);
      const std::size_t count = std::min(wanted, file.size() - offset);
      bytes += count;
      return std::vector<std::byte>(begin, begin + static_cast<std::ptrdiff_t>(count));
    };
  }
};

TEST(DebugDirectoryTest, EntriesWithTheirData) {
  ImageBuilder builder;
  builder.code_view(0x12, 0x1A, "C:\\out\\app.pdb").debug_entry(17, 0x100, {1, 2, 3});
  const auto file = builder.build();
  const auto entries = debug_directory(file);
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_EQ(entries[1].type, DebugEntry::kEmbeddedPortablePdb);
  EXPECT_EQ(entries[1].data.size(), 3u);
  EXPECT_EQ(entries[1].data[2], std::byte{3});
  const auto id = code_view_id(entries, false);
  ASSERT_TRUE(id);
  EXPECT_EQ(id->path, "C:\\out\\app.pdb");
  EXPECT_EQ(id->timestamp, ImageBuilder::kTimestamp);
  EXPECT_EQ(symbol_store_id(*id), "121212121212121212121212121212121A");
  EXPECT_FALSE(code_view_id(entries, true));
}

TEST(DebugDirectoryTest, PortableIsAnotherEntry) {
  ImageBuilder builder;
  builder.code_view(0x01, 1, "app.ni.pdb").code_view(0x02, 1, "app.pdb", true);
  const auto file = builder.build();
  const auto entries = debug_directory(file);
  EXPECT_EQ(code_view_id(entries, false)->path, "app.ni.pdb");
  const auto id = code_view_id(entries, true);
  EXPECT_EQ(id->path, "app.pdb");
  EXPECT_EQ(symbol_store_id(*id), "02020202020202020202020202020202FFFFFFFF");
}

TEST(DebugDirectoryTest, GuidIsWrittenAsPeopleWriteIt) {
  CodeViewId id;
  for (int i = 0; i < 16; ++i) id.guid[static_cast<std::size_t>(i)] = static_cast<std::byte>(i);
  EXPECT_EQ(symbol_store_id(id), "030201000504070608090A0B0C0D0E0F0");
}

TEST(DebugDirectoryTest, FileNamesOfBothSystems) {
  EXPECT_EQ(file_name("C:\\a\\b.pdb"), "b.pdb");
  EXPECT_EQ(file_name("/a/b.pdb"), "b.pdb");
  EXPECT_EQ(file_name("b.pdb"), "b.pdb");
  EXPECT_EQ(file_name("C:b.pdb"), "b.pdb");
  EXPECT_EQ(file_name("a\\"), "");
}

const std::vector<std::uint8_t> kSum = {'S', 'H', 'A', '2', '5', '6', 0, 0x01, 0xAB, 0xFF};

TEST(DebugDirectoryTest, ChecksumsOfThePdb) {
  const auto file = ImageBuilder()
                        .code_view(7, 1, "app.pdb", true)
                        .debug_entry(DebugEntry::kPdbChecksum, 0, kSum, 0)
                        .debug_entry(DebugEntry::kPdbChecksum, 0, {'X', '-', '1', 0, 0x02}, 0)
                        .build();
  const auto checksums = pdb_checksums(debug_directory(file));
  ASSERT_EQ(checksums.size(), 2u);
  EXPECT_EQ(checksums[0], (PdbChecksum{"SHA256", {std::byte{0x01}, std::byte{0xAB}, std::byte{0xFF}}}));
  EXPECT_EQ(checksums_text(checksums), "SHA256:01abff;X-1:02");
  EXPECT_EQ(checksums_text({}), "");
  Parts parts{file};
  EXPECT_EQ(read_image_file_id(parts.reader())->checksums, checksums);
  EXPECT_EQ(read_image_file_id(parts.reader())->code_view->path, "app.pdb");
}

TEST(DebugDirectoryTest, ChecksumsThatAreNone) {
  ImageBuilder image;
  std::vector<std::uint8_t> too_long = kSum;
  too_long.resize(129);
  const std::vector<std::vector<std::uint8_t>> none = {
      {}, {0}, {0, 1}, {'A'}, {'A', 0}, {'A', ' ', 0, 1}, {'A', '\r', '\n', 0, 1}, too_long};
  for (const std::vector<std::uint8_t>& data : none) {
    image.debug_entry(DebugEntry::kPdbChecksum, 0, data, 0);
  }
  const auto file = image.build();
  EXPECT_TRUE(pdb_checksums(debug_directory(file)).empty());
  Parts parts{file};
  EXPECT_TRUE(read_image_file_id(parts.reader())->checksums.empty());
  ImageBuilder many;
  for (int i = 0; i < 20; ++i) many.debug_entry(DebugEntry::kPdbChecksum, 0, kSum, 0);
  const auto entries = many.build();
  EXPECT_EQ(pdb_checksums(debug_directory(entries)).size(), 4u);
}

TEST(DebugDirectoryTest, ImagesWithoutOne) {
  EXPECT_TRUE(debug_directory({}).empty());
  const auto file = ImageBuilder().build();
  EXPECT_TRUE(debug_directory(file).empty());
  EXPECT_FALSE(code_view_id({}, false));
}

TEST(DebugDirectoryTest, CutOffAnywhereIsLess) {
  ImageBuilder builder;
  builder.code_view(0x12, 1, "app.pdb");
  const auto file = builder.build();
  for (std::size_t bytes = 0; bytes <= file.size(); ++bytes) {
    const auto entries = debug_directory(std::span(file).first(bytes));
    const auto id = code_view_id(entries, false);
    EXPECT_TRUE(!id || id->path == "app.pdb") << bytes;
  }
  EXPECT_TRUE(code_view_id(debug_directory(file), false));
}

TEST(ImageFileIdTest, WhichFileItIsWithoutReadingAllOfIt) {
  Parts parts{test::ImageBuilder().code_view(7, 3, "D:\\build\\app.pdb").build()};
  parts.file.resize(10'000'000);
  const auto headers = read_image_file_id(parts.reader());
  ASSERT_TRUE(headers);
  EXPECT_EQ(headers->timestamp, test::ImageBuilder::kTimestamp);
  EXPECT_EQ(headers->size_of_image, test::ImageBuilder::kSizeOfImage + 0x1000);
  EXPECT_EQ(headers->code_view, code_view_id(debug_directory(parts.file), false));
  EXPECT_EQ(headers->code_view->age, 3u);
  EXPECT_LT(parts.bytes, 16'384u);
}

TEST(ImageFileIdTest, ThePdbOfNativeCodeComesFirst) {
  Parts both{test::ImageBuilder().code_view(1, 1, "managed.pdb", true).code_view(2, 1, "native.pdb").build()};
  EXPECT_EQ(read_image_file_id(both.reader())->code_view->path, "native.pdb");
  EXPECT_EQ(read_image_file_id(both.reader())->portable->path, "managed.pdb");
  Parts managed{test::ImageBuilder().code_view(1, 1, "managed.pdb", true).build()};
  EXPECT_TRUE(read_image_file_id(managed.reader())->code_view->portable);
  Parts none{test::ImageBuilder().build()};
  EXPECT_FALSE(read_image_file_id(none.reader())->code_view);
}

TEST(ImageFileIdTest, APdbInsideTheFile) {
  Parts inside{test::ImageBuilder().code_view(1, 1, "app.pdb", true).debug_entry(17, 0x100, {}).build()};
  EXPECT_TRUE(read_image_file_id(inside.reader())->has_pdb_inside);
  Parts beside{test::ImageBuilder().code_view(1, 1, "app.pdb", true).build()};
  EXPECT_FALSE(read_image_file_id(beside.reader())->has_pdb_inside);
}

// GNU ld writes its entry as RSDS without a path.
TEST(ImageFileIdTest, ABuildIdIsAnEntryWithoutAPath) {
  Parts parts{test::ImageBuilder().code_view(0xB1, 1, "").build()};
  const auto headers = read_image_file_id(parts.reader());
  ASSERT_TRUE(headers && headers->code_view);
  EXPECT_EQ(build_id(*headers->code_view), "b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1b1");
  EXPECT_EQ(build_id(CodeViewId{.path = "a.pdb"}), "");
}

TEST(ImageFileIdTest, CutOffOrWrongAnywhereIsNoCrash) {
  const auto whole = test::ImageBuilder().code_view(7, 3, "app.pdb").build();
  for (std::size_t i = 0; i < whole.size(); i += i < 0x400 ? 1 : 13) {
    Parts cut{{whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(i)}};
    read_image_file_id(cut.reader());
    Parts wrong{whole};
    wrong.file[i] ^= std::byte{0xFF};
    read_image_file_id(wrong.reader());
  }
}

}  // namespace
}  // namespace mixwalk
