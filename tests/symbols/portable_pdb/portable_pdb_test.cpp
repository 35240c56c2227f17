#include "symbols/portable_pdb/portable_pdb.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <array>

#include "symbols/portable_pdb/embedded_pdb.h"
#include "symbols/portable_pdb/sequence_points.h"
#include "symbols/web_url.h"
#include "tests/builders/image_builder.h"
#include "tests/builders/portable_pdb_builder.h"
#include "unmanaged/sha256.h"

namespace mixwalk {
namespace {

using test::ByteWriter;
using test::ImageBuilder;

std::optional<CodeViewId> id_of(std::uint8_t guid) {
  const auto file = ImageBuilder().code_view(guid, 1, "app.pdb", true).build();
  return code_view_id(debug_directory(file), true);
}

std::string at(const PortablePdb& pdb, std::uint32_t method, std::uint32_t il) {
  const auto place = pdb.find(method, il);
  return place ? place->file + ':' + std::to_string(place->line) : "unknown";
}

TEST(PortablePdbTest, LastVisiblePointAtOrBefore) {
  const auto opened = PortablePdb::open(test::sample_portable_pdb().build(), id_of(7));
  ASSERT_EQ(opened.error, PortablePdbError::none);
  EXPECT_EQ(at(*opened.pdb, 0x06000001, 0), "/src/app/Main.cs:10");
  EXPECT_EQ(at(*opened.pdb, 0x06000001, 6), "/src/app/Main.cs:10");
  EXPECT_EQ(at(*opened.pdb, 0x06000001, 7), "C:\\Other.cs:12");
  EXPECT_EQ(at(*opened.pdb, 0x06000001, 9), "C:\\Other.cs:11");
  EXPECT_EQ(at(*opened.pdb, 0x06000001, 0xFFFFFFFF), "C:\\Other.cs:11");
  EXPECT_EQ(at(*opened.pdb, 0x06000002, 0), "unknown");
  EXPECT_EQ(at(*opened.pdb, 0x06000003, 0), "unknown");
  EXPECT_EQ(at(*opened.pdb, 0x06000000, 0), "unknown");
  EXPECT_EQ(at(*opened.pdb, 0x0A000001, 0), "unknown");  // a method of another assembly
}

TEST(PortablePdbTest, UrlOfTheFile) {
  auto pdb = test::sample_portable_pdb();
  EXPECT_EQ(PortablePdb::open(pdb.build(), id_of(7)).pdb->find(0x06000001, 0)->url, "");
  pdb.source_link(R"({"documents": {"/src/*": "https://example.org/orders/1234/*"}})");
  const auto opened = PortablePdb::open(pdb.build(), id_of(7));
  ASSERT_EQ(opened.error, PortablePdbError::none);
  EXPECT_EQ(opened.pdb->find(0x06000001, 0)->url, "https://example.org/orders/1234/app/Main.cs");
  EXPECT_EQ(opened.pdb->find(0x06000001, 7)->url, "");
}

TEST(PortablePdbTest, AwaitsByTheirNumbers) {
  auto pdb = test::sample_portable_pdb();
  EXPECT_FALSE(PortablePdb::open(pdb.build(), id_of(7)).pdb->find_await(0x06000001, 0));
  // The handler of exceptions, and two awaits at IL 7 and 9.
  pdb.awaits(1, test::ByteWriter().u32(0).u32(7).u32(8).u8(1).u32(9).u32(10).u8(1).bytes());
  pdb.source_link("{}");
  const auto opened = PortablePdb::open(pdb.build(), id_of(7));
  ASSERT_EQ(opened.error, PortablePdbError::none);
  EXPECT_EQ(opened.pdb->find_await(0x06000001, 0), (ManagedPlace{"C:\\Other.cs", 12}));
  EXPECT_EQ(opened.pdb->find_await(0x06000001, 1), (ManagedPlace{"C:\\Other.cs", 11}));
  EXPECT_FALSE(opened.pdb->find_await(0x06000001, 2));
  EXPECT_FALSE(opened.pdb->find_await(0x06000002, 0));
  EXPECT_FALSE(opened.pdb->find_await(0, 0));
  pdb.awaits(1, test::ByteWriter().u32(0).u32(7).u32(8).u8(1).u32(9).u8(1).bytes());
  const auto cut = PortablePdb::open(pdb.build(), id_of(7));
  EXPECT_TRUE(cut.pdb->find_await(0x06000001, 0));
  EXPECT_FALSE(cut.pdb->find_await(0x06000001, 1));
}

std::string url(std::string_view json, std::string_view path) {
  return SourceLink(std::as_bytes(std::span(json))).url_of(path);
}

TEST(SourceLinkTest, TheLongestPathCounts) {
  constexpr std::string_view kJson = R"({"documents": {
      "C:\\src\\*": "https://example.org/a/*?v=1", "C:\\src\\sub\\*": "http://example.org/b/*",
      "C:\\src\\One.cs": "https://example.org/one"}})";
  EXPECT_EQ(url(kJson, R"(c:\SRC\Orders\Größe 1#.cs)"), "https://example.org/a/Orders/Gr%C3%B6%C3%9Fe%201%23.cs?v=1");
  EXPECT_EQ(url(kJson, R"(C:\src\sub\x.cs)"), "http://example.org/b/x.cs");
  EXPECT_EQ(url(kJson, R"(C:\src\One.cs)"), "https://example.org/one");
  EXPECT_EQ(url(kJson, R"(C:\other\One.cs)"), "");
}

// Whoever made the PDB wrote its URLs, and a page makes links of them.
TEST(SourceLinkTest, OnlyUrlsOfTheWebCount) {
  for (const char* target : {"javascript:alert(1)//*", "file:///etc/*", "https://a/\\u0022onclick=*", "https://a/ b/*",
                             "*", "https://a/", "ftp://a/*", "https://a/\\u0001*"}) {
    EXPECT_EQ(url(std::string(R"({"documents": {"/src/*": ")") + target + R"("}})", "/src/a.cs"), "") << target;
  }
  const std::string longest = "https://a/" + std::string(kMaxWebUrl - 14, 'x') + "/*";
  const std::string json = R"({"documents": {"/src/*": ")" + longest + R"("}})";
  EXPECT_EQ(url(json, "/src/abc").size(), kMaxWebUrl);
  EXPECT_EQ(url(json, "/src/abcd"), "");
}

// A parsed map takes many times as much memory as its text.
TEST(SourceLinkTest, MapsThatAreTooLargeAreLeftOut) {
  std::string json = R"({"documents": {"/src/*": "https://example.org/*"}})";
  json.resize(1 << 20, ' ');
  EXPECT_EQ(url(json, "/src/a.cs"), "https://example.org/a.cs");
  EXPECT_EQ(url(json + ' ', "/src/a.cs"), "");
}

TEST(SourceLinkTest, WhatIsNoMapHasNoUrls) {
  for (const char* json : {"", "{", "[]", "{}", "1", R"({"documents": 1})",
                           R"({"documents": {"*": 1, "": "https://a/"}})",
                           R"({"documents": {"/a*b*": "https://a/*", "/src/a.cs": "https://a/*"}})"}) {
    EXPECT_EQ(url(json, "/src/a.cs"), "") << json;
  }
  EXPECT_EQ(url(std::string(100'000, '['), "/src/a.cs"), "");
}

TEST(PortablePdbTest, OnlyTheImagesOwn) {
  EXPECT_EQ(PortablePdb::open(test::sample_portable_pdb().build(), id_of(8)).error,
            PortablePdbError::other_image);
  EXPECT_EQ(PortablePdb::open(test::sample_portable_pdb().build(), std::nullopt).error,
            PortablePdbError::no_image_id);
  auto other_time = id_of(7);
  ++other_time->timestamp;
  EXPECT_EQ(PortablePdb::open(test::sample_portable_pdb().build(), other_time).error,
            PortablePdbError::other_image);
  EXPECT_EQ(PortablePdb::open(std::vector<std::byte>(200), id_of(7)).error, PortablePdbError::not_portable);
  for (int error = 0; error <= static_cast<int>(PortablePdbError::altered); ++error) {
    EXPECT_NE(to_string(static_cast<PortablePdbError>(error)), "unknown error");
  }
}

PdbChecksum sum_of(std::vector<std::byte> pdb, std::string algorithm = "SHA256") {
  std::vector<std::byte> id(16, std::byte{7});
  for (int shift = 0; shift < 32; shift += 8) id.push_back(static_cast<std::byte>(ImageBuilder::kTimestamp >> shift));
  std::fill_n(std::search(pdb.begin(), pdb.end(), id.begin(), id.end()), id.size(), std::byte{0});
  const auto sum = sha256(pdb);
  return {std::move(algorithm), {sum.begin(), sum.end()}};
}

TEST(PortablePdbTest, OnlyTheFileThatTheCompilerWrote) {
  const auto file = test::sample_portable_pdb().build();
  const PdbChecksum right = sum_of(file);
  PdbChecksum wrong = right;
  wrong.value[0] ^= std::byte{1};
  const auto opened = PortablePdb::open(file, id_of(7), std::array{right});
  ASSERT_EQ(opened.error, PortablePdbError::none);
  EXPECT_EQ(at(*opened.pdb, 0x06000001, 0), "/src/app/Main.cs:10");
  EXPECT_EQ(PortablePdb::open(file, id_of(7), std::array{wrong}).error, PortablePdbError::altered);
  EXPECT_EQ(PortablePdb::open(file, id_of(7), std::array{wrong, right}).error, PortablePdbError::none);
  EXPECT_EQ(PortablePdb::open(file, id_of(7), std::array{sum_of(file, "sha256")}).error, PortablePdbError::none);
  EXPECT_EQ(PortablePdb::open(file, id_of(7), std::array{sum_of(file, "SHA512")}).error, PortablePdbError::none)
      << "a sum that cannot be computed says nothing";
  for (const std::size_t i : {file.size() - 1, file.size() / 2}) {
    auto altered = file;
    altered[i] ^= std::byte{1};
    const auto error = PortablePdb::open(std::move(altered), id_of(7), std::array{right}).error;
    EXPECT_EQ(error, PortablePdbError::altered) << i;
  }
}

TEST(PortablePdbTest, CutOffOrWrongAnywhereIsNoCrash) {
  const auto whole = test::sample_portable_pdb().build();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    const auto cut =
        PortablePdb::open({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(i)}, id_of(7));
    EXPECT_EQ(cut.pdb == nullptr, cut.error != PortablePdbError::none);
    for (const int value : {0x00, 0x7F, 0xFF}) {
      auto damaged = whole;
      damaged[i] = static_cast<std::byte>(value);
      const auto opened = PortablePdb::open(std::move(damaged), id_of(7));
      if (opened.pdb == nullptr) continue;
      for (std::uint32_t row = 1; row < 4; ++row) opened.pdb->find(0x06000000 | row, 9);
    }
  }
}

// The index of a part takes a byte, and index 0 is the empty text. A path has at most 32,768 bytes.
TEST(PortablePdbTest, NameOfSeparatorsAloneIsBounded) {
  test::PortablePdbBuilder pdb;
  const std::uint32_t points = pdb.blob(ByteWriter().append({0x00, 0x00, 0x00, 0x05, 10, 1}).bytes());
  pdb.method(pdb.document('/', std::vector<std::string>(32'770)), points);
  const auto opened = PortablePdb::open(pdb.build(), id_of(7));
  ASSERT_EQ(opened.error, PortablePdbError::none);
  EXPECT_EQ(at(*opened.pdb, 0x06000001, 0), "unknown");
}

TEST(SequencePointsTest, PointsBeyondWhatAMethodHasAreNotRead) {
  ByteWriter blob;
  blob.append({0x00, 0x00, 0x00, 0x05, 10, 1});
  for (int i = 0; i < 2'000'000; ++i) blob.append({1, 0x00, 0x01, 2, 0});
  const auto bytes = blob.bytes();
  EXPECT_EQ(find_sequence_point(bytes, 1, 0), (SequencePoint{1, 10}));
  EXPECT_EQ(find_sequence_point(bytes, 1, 1000), (SequencePoint{1, 1010}));
  EXPECT_EQ(find_sequence_point(bytes, 1, 1'999'999), std::nullopt) << "the last one read would be a wrong line";
}

TEST(SequencePointsTest, DocumentInTheHeader) {
  const auto blob = ByteWriter().append({0x00, 3, 0, 0x00, 0x05, 0x80, 0xC8, 1}).bytes();
  EXPECT_EQ(find_sequence_point(blob, 0, 0), (SequencePoint{3, 200}));
  EXPECT_EQ(find_sequence_point({}, 0, 0), std::nullopt);
}

TEST(SequencePointsTest, FirstPointsHidden) {
  const auto blob = ByteWriter().append({0x00, 2, 0x00, 0x00, 3, 0x00, 0x05, 20, 1}).bytes();
  EXPECT_EQ(find_sequence_point(blob, 1, 0), std::nullopt);  // before the first point
  EXPECT_EQ(find_sequence_point(blob, 1, 4), std::nullopt);  // hidden
  EXPECT_EQ(find_sequence_point(blob, 1, 5), (SequencePoint{1, 20}));
}

TEST(SequencePointsTest, SignedNumbersOfEveryLength) {
  // The lines are 9000, -1 in one byte, -100 in two (II.23.2: -100 is 0xBF39), and -8200 in four (0xDFFFBFF1).
  const auto blob = ByteWriter()
                        .append({0x00, 0, 0x00, 0x05, 0xA3, 0x28, 1})
                        .append({1, 0x00, 0x05, 0x7F, 0})
                        .append({1, 0x00, 0x05, 0xBF, 0x39, 0})
                        .append({1, 0x00, 0x05, 0xDF, 0xFF, 0xBF, 0xF1, 0})
                        .bytes();
  EXPECT_EQ(find_sequence_point(blob, 1, 0)->line, 9000u);
  EXPECT_EQ(find_sequence_point(blob, 1, 1)->line, 8999u);
  EXPECT_EQ(find_sequence_point(blob, 1, 2)->line, 8899u);
  EXPECT_EQ(find_sequence_point(blob, 1, 3)->line, 699u);
}

std::vector<std::uint8_t> packed(const std::vector<std::byte>& file, std::uint32_t length) {
  std::vector<std::uint8_t> data = {'M', 'P', 'D', 'B'};
  for (int i = 0; i < 4; ++i) data.push_back(static_cast<std::uint8_t>(length >> 8 * i));
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::vector<std::uint8_t> room(file.size() + 100);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(file.data()));
  stream.avail_in = static_cast<uInt>(file.size());
  stream.next_out = room.data();
  stream.avail_out = static_cast<uInt>(room.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  data.insert(data.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(stream.total_out));
  deflateEnd(&stream);
  return data;
}

TEST(EmbeddedPdbTest, IsUnpacked) {
  const auto pdb = test::sample_portable_pdb().build();
  const auto length = static_cast<std::uint32_t>(pdb.size());
  const auto image =
      ImageBuilder().code_view(7, 1, "app.pdb", true).debug_entry(17, 0x100, packed(pdb, length)).build();
  const auto entries = debug_directory(image);
  EXPECT_TRUE(has_embedded_pdb(entries));
  const auto unpacked = embedded_pdb(entries);
  ASSERT_TRUE(unpacked);
  EXPECT_EQ(*unpacked, pdb);
  EXPECT_EQ(PortablePdb::open(*unpacked, code_view_id(entries, true)).error, PortablePdbError::none);
}

TEST(EmbeddedPdbTest, DamageIsNone) {
  const auto pdb = test::sample_portable_pdb().build();
  const auto length = static_cast<std::uint32_t>(pdb.size());
  const auto unpack = [](const std::vector<std::uint8_t>& data) {
    const auto image = ImageBuilder().debug_entry(17, 0x100, data).build();
    return embedded_pdb(debug_directory(image));
  };
  EXPECT_TRUE(unpack(packed(pdb, length)));
  EXPECT_FALSE(unpack(packed(pdb, length - 1)));
  EXPECT_FALSE(unpack(packed(pdb, length + 1)));
  EXPECT_FALSE(unpack(packed(pdb, 0xFFFFFFFF)));
  EXPECT_FALSE(unpack({'M', 'P', 'D', 'B'}));
  auto wrong = packed(pdb, length);
  wrong[0] = 'N';
  EXPECT_FALSE(unpack(wrong));
  wrong = packed(pdb, length);
  wrong.resize(wrong.size() / 2);
  EXPECT_FALSE(unpack(wrong));
  EXPECT_FALSE(has_embedded_pdb({}));
  EXPECT_FALSE(embedded_pdb({}));
}

}  // namespace
}  // namespace mixwalk
