#include "symbols/dwarf/dwarf_symbols.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "symbols/dwarf/debug_link.h"
#include "symbols/dwarf/dwarf_lines.h"
#include "tests/support/lazy_index_peer.h"
#include "tests/symbols/dwarf/dwarf_builder.h"

namespace mixwalk {
namespace {

using test::DebugImageBuilder;
using test::DwarfTables;
using test::TableWriter;

class FakeFiles final : public ImageFiles {
 public:
  std::map<std::string, std::vector<std::byte>> files;
  std::vector<std::string> asked;
  std::optional<std::vector<std::byte>> read(const std::string& path) override {
    asked.push_back(path);
    const auto at = files.find(path);
    return at == files.end() ? std::nullopt : std::optional(at->second);
  }
};

DwarfSymbols open(std::vector<std::byte> bytes, ImageFiles& files) {
  return open_dwarf(std::make_shared<const ImageFile>("C:\\bin\\app.dll", std::move(bytes)), files);
}
DwarfSymbols open(std::vector<std::byte> bytes) {
  FakeFiles none;
  return open(std::move(bytes), none);
}
std::vector<std::byte> with(const DwarfTables& tables) {
  DebugImageBuilder image;
  tables.add_to(image);
  return image.build();
}

// Returns "inner b.h:3 < outer a.c:12", or "-" if no function is known.
std::string chain(DwarfSymbols& symbols, std::uint32_t rva) {
  SourceLocation found;
  if (symbols.index == nullptr || !symbols.index->find(rva, found)) return "-";
  std::string text;
  for (const SourceFrame& frame : found.frames) {
    if (!text.empty()) text += " < ";
    text += std::string(frame.name) + ' ' + std::string(frame.file) + ':' + std::to_string(frame.line);
  }
  return text;
}

TEST(DwarfSymbolsTest, FunctionsInlinedCallsAndLines) {
  DwarfSymbols symbols = open(with(DwarfTables()));
  ASSERT_EQ(symbols.problem, "");
  EXPECT_EQ(symbols.path, "C:\\bin\\app.dll");
  EXPECT_EQ(LazyIndexTestPeer::units_read(*symbols.index), 0u);
  EXPECT_EQ(chain(symbols, 0xFFF), "-");
  EXPECT_EQ(chain(symbols, 0x1000), "outer /src/a.c:10");
  EXPECT_EQ(chain(symbols, 0x1010), "outer /src/a.c:10");
  EXPECT_EQ(chain(symbols, 0x1020), "inner /src/inc/b.h:3 < outer /src/a.c:12");
  EXPECT_EQ(chain(symbols, 0x1030), "outer /src/a.c:13");
  EXPECT_EQ(chain(symbols, 0x1047), "inner /src/a.c:13 < outer /src/a.c:15");
  EXPECT_EQ(chain(symbols, 0x1048), "outer /src/a.c:13");
  EXPECT_EQ(chain(symbols, 0x1050), "inner /src/a.c:13 < outer /src/a.c:15");
  EXPECT_EQ(chain(symbols, 0x1100), "_ZN5plainEv /src/a.c:20");
  EXPECT_EQ(chain(symbols, 0x1140), "local :0");
  EXPECT_EQ(chain(symbols, 0x1150), "-");
  EXPECT_EQ(LazyIndexTestPeer::units_read(*symbols.index), 1u);
}

// A section as mingw's objcopy --compress-debug-sections writes it; `lie` is added to its length.
std::vector<std::uint8_t> packed(const TableWriter& table, int lie = 0) {
  const std::vector<std::uint8_t>& data = table.data();
  std::vector<std::uint8_t> section = {'Z', 'L', 'I', 'B', 0, 0, 0, 0};
  const auto bytes = static_cast<std::uint32_t>(data.size()) + static_cast<std::uint32_t>(lie);
  for (int i = 3; i >= 0; --i) section.push_back(static_cast<std::uint8_t>(bytes >> 8 * i));
  uLongf length = compressBound(data.size());
  const std::size_t header = section.size();
  section.resize(header + length);
  EXPECT_EQ(compress(section.data() + header, &length, data.data(), data.size()), Z_OK);
  section.resize(header + length);
  return section;
}

TEST(DwarfSymbolsTest, CompressedSections) {
  const DwarfTables tables;
  DebugImageBuilder image;
  image.section(".zdebug_abbrev", packed(tables.abbreviations));
  image.section(".zdebug_info", packed(tables.info));
  image.section(".zdebug_line", packed(tables.lines));
  image.section(".debug_ranges", tables.ranges.data());  // objcopy leaves sections that do not get shorter
  DwarfSymbols symbols = open(image.build());
  ASSERT_EQ(symbols.problem, "");
  EXPECT_EQ(chain(symbols, 0x1020), "inner /src/inc/b.h:3 < outer /src/a.c:12");
  EXPECT_EQ(chain(symbols, 0x1047), "inner /src/a.c:13 < outer /src/a.c:15");
}

TEST(DwarfSymbolsTest, CompressedSectionsThatLieAreRefused) {
  const DwarfTables tables;
  const auto problem = [&](const std::vector<std::uint8_t>& info) {
    DebugImageBuilder image;
    image.section(".zdebug_info", info);
    image.section(".debug_abbrev", tables.abbreviations.data());
    return open(image.build()).problem;
  };
  const std::string refused = "damaged DWARF: the compressed section .zdebug_info cannot be unpacked";
  for (const int lie : {-1, 1, 0x7000'0000, -0x1000'0000}) EXPECT_EQ(problem(packed(tables.info, lie)), refused) << lie;
  std::vector<std::uint8_t> whole = packed(tables.info);
  for (std::size_t size = 1; size < whole.size(); ++size) {
    EXPECT_EQ(problem({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)}), refused) << size;
  }
  whole[0] = 'z';
  EXPECT_EQ(problem(whole), refused);
  DebugImageBuilder image;
  image.section(".zdebug_info", whole);
  EXPECT_EQ(open(image.build()).note, "not used: C:\\bin\\app.dll: " + refused);
}

TEST(DwarfSymbolsTest, ImageWithoutDwarfSaysSo) {
  EXPECT_EQ(open(DebugImageBuilder().build()).problem, "the file has no DWARF");
  EXPECT_EQ(open({}).problem, "not a PE image");
  DebugImageBuilder garbage;
  garbage.section(".debug_info", std::vector<std::uint8_t>(64, 0xFF));
  garbage.section(".debug_abbrev", std::vector<std::uint8_t>(64, 0xFF));
  EXPECT_EQ(open(garbage.build()).problem, "the DWARF tells of no code");
}

// The debug information still has functions that the linker dropped, at 0 or some other address outside the code.
TEST(DwarfSymbolsTest, DroppedCodeIsNobodys) {
  DwarfTables tables;
  const auto all = with(tables);
  std::vector<std::uint8_t> info = tables.info.data();
  const std::uint64_t outer = DebugImageBuilder::kImageBase + 0x1000, nowhere = 0;
  for (std::size_t i = 0; i + 8 <= info.size(); ++i) {
    if (std::memcmp(info.data() + i, &outer, 8) == 0) std::memcpy(info.data() + i, &nowhere, 8);
  }
  tables.info = TableWriter();
  tables.info.bytes(info);
  EXPECT_EQ(open(with(tables)).problem, "the DWARF tells of no code");
}

TEST(DwarfSymbolsTest, EveryCutAndEveryFlippedByteIsSurvived) {
  const DwarfTables tables;
  for (int which = 0; which < 4; ++which) {
    DwarfTables damaged = tables;
    TableWriter& table = which == 0   ? damaged.info
                         : which == 1 ? damaged.abbreviations
                         : which == 2 ? damaged.lines
                                      : damaged.ranges;
    const std::vector<std::uint8_t> whole = table.data();
    for (std::size_t i = 0; i < whole.size(); ++i) {
      for (const int value : {-1, 0x00, 0x7F, 0x80, 0xFF}) {
        std::vector<std::uint8_t> bytes = whole;
        if (value < 0) {
          bytes.resize(i);
        } else {
          bytes[i] = static_cast<std::uint8_t>(value);
        }
        table = TableWriter();
        table.bytes(bytes);
        DwarfSymbols symbols = open(with(damaged));
        EXPECT_EQ(symbols.index == nullptr, !symbols.problem.empty());
        for (std::uint32_t rva = 0x1000; rva < 0x1150; rva += 16) chain(symbols, rva);
      }
    }
  }
}

TEST(DwarfSymbolsTest, EntryThatIsItsOwnOriginHasNoName) {
  DwarfTables tables;
  std::vector<std::uint8_t> info = tables.info.data();
  // Finds the inlined call's DW_AT_abstract_origin, which comes after the abbreviation's number, 5.
  for (std::size_t i = 11; i + 5 <= info.size(); ++i) {
    if (info[i] == 5 && info[i + 2] == 0 && info[i + 3] == 0 && info[i + 4] == 0) {
      info[i + 1] = static_cast<std::uint8_t>(i);
      break;
    }
  }
  tables.info = TableWriter();
  tables.info.bytes(info);
  DwarfSymbols symbols = open(with(tables));
  EXPECT_EQ(chain(symbols, 0x1020), " /src/inc/b.h:3 < outer /src/a.c:12");
}

// There are a million entries of one byte, and each has all of an abbreviation's attributes.
TEST(DwarfSymbolsTest, AbbreviationWithThousandsOfAttributesIsRefused) {
  DwarfTables tables;
  std::vector<std::uint8_t> abbreviations = tables.abbreviations.data();
  abbreviations.pop_back();
  TableWriter more;
  more.bytes(abbreviations).uleb(20).uleb(0x34).u8(0);
  for (int i = 0; i < 30'000; ++i) more.uleb(0x3F).uleb(0x19);  // DW_AT_external, DW_FORM_flag_present
  more.uleb(0).uleb(0).u8(0);
  tables.abbreviations = more;
  std::vector<std::uint8_t> info = tables.info.data();
  info.pop_back();
  info.insert(info.end(), 1'000'000, 20);
  info.push_back(0);
  tables.info = TableWriter();
  tables.info.bytes(info).set32(0, info.size() - 4);
  EXPECT_EQ(open(with(tables)).problem, "the DWARF tells of no code");
}

TEST(DwarfSymbolsTest, EntriesInsideEachOtherWithoutEndAreLeft) {
  DwarfTables tables;
  std::vector<std::uint8_t> info = tables.info.data();
  info.pop_back();
  info.insert(info.end(), 100'000, 21);
  tables.info = TableWriter();
  tables.info.bytes(info).set32(0, info.size() - 4);
  TableWriter more;
  std::vector<std::uint8_t> abbreviations = tables.abbreviations.data();
  abbreviations.pop_back();
  more.bytes(abbreviations).uleb(21).uleb(0x0b).u8(1).uleb(0).uleb(0).u8(0);  // a block with children
  tables.abbreviations = more;
  DwarfSymbols symbols = open(with(tables));
  EXPECT_EQ(chain(symbols, 0x1020), "inner /src/inc/b.h:3 < outer /src/a.c:12");
}

TEST(DwarfSymbolsTest, LineTableWithMillionsOfRowsIsLeftAlone) {
  DwarfTables tables;
  std::vector<std::uint8_t> lines = tables.lines.data();
  lines.insert(lines.end() - 3, DwarfLines::kMaxTable, 13);  // rows of one byte, before the end of the sequence
  tables.lines = TableWriter();
  tables.lines.bytes(lines).set32(0, lines.size() - 4);
  DwarfSymbols symbols = open(with(tables));
  EXPECT_EQ(chain(symbols, 0x1020), "inner :0 < outer :12");
}

// The first bytes of each file of Linux with debug information, such as those whose sections are SHF_COMPRESSED.
std::vector<std::byte> elf_file() {
  std::vector<std::byte> file(100);
  constexpr std::uint8_t kIdent[] = {0x7F, 'E', 'L', 'F', 2, 1, 1};
  std::ranges::transform(kIdent, file.begin(), [](std::uint8_t byte) { return std::byte{byte}; });
  return file;
}

// Tables with a skeleton of DWARF 4, whose functions are in another file.
DwarfTables split_tables(const std::string& file, const std::string& folder) {
  DwarfTables tables;
  tables.abbreviations = TableWriter();
  tables.abbreviations.uleb(1).uleb(0x11).u8(0);  // DW_TAG_compile_unit
  for (const unsigned one : {0x2130u, 0x08u, 0x1Bu, 0x08u, 0x11u, 0x01u, 0x12u, 0x06u, 0x10u, 0x17u, 0x2131u, 0x07u}) {
    tables.abbreviations.uleb(one);
  }
  tables.abbreviations.uleb(0).uleb(0).u8(0);
  tables.info = TableWriter();
  tables.info.u32(0).u16(4).u32(0).u8(8);
  tables.info.uleb(1).text(file).text(folder).u64(DebugImageBuilder::kImageBase + 0x1000).u32(0x150);
  tables.info.u32(0).u64(0x0123456789ABCDEF);
  tables.info.set32(0, tables.info.size() - 4);
  return tables;
}

TEST(DwarfSymbolsTest, SplitUnitWithoutItsFileHasLines) {
  const DwarfTables tables = split_tables("out/a.dwo", "/src");
  FakeFiles files;
  DwarfSymbols symbols = open(with(tables), files);
  EXPECT_EQ(symbols.problem, "");
  EXPECT_EQ(symbols.note, "C:\\bin\\app.dll: the names of functions are in .dwo files (-gsplit-dwarf) that were not "
                          "found; put them beside the image; the first is a.dwo");
  EXPECT_EQ(std::set(files.asked.begin(), files.asked.end()),
            (std::set<std::string>{"/src/out/a.dwo", "C:\\bin\\a.dwo"}));
  SourceFrame frame;
  ASSERT_TRUE(symbols.index->find_line(0x1020, frame));
  EXPECT_EQ(frame.file, "/src/inc/b.h");
  EXPECT_EQ(chain(symbols, 0x1020), "-");
}

TEST(DwarfSymbolsTest, ASplitFileThatCannotBeUsedSaysWhy) {
  const auto note = [](std::vector<std::byte> file) {
    FakeFiles files;
    files.files["C:\\bin\\a.dwo"] = std::move(file);
    return open(with(split_tables("out/a.dwo", "/src")), files).note;
  };
  const std::string why = "C:\\bin\\app.dll: the names of functions are in .dwo files (-gsplit-dwarf) that cannot be "
                          "used; the first is a.dwo: ";
  EXPECT_EQ(note(std::vector<std::byte>(100)), why + "it is no file of an image for Windows");
  EXPECT_EQ(note(elf_file()), why + "it is an ELF file, and an image for Windows has COFF files");
  // The header of an object file for x64, without sections.
  std::vector<std::byte> object(20);
  object[0] = std::byte{0x64};
  object[1] = std::byte{0x86};
  EXPECT_EQ(note(object), why + "it has no unit of this build: it belongs to another build, or is damaged");
}

// All units may refer to one text of many megabytes, and Windows opens a device by such a name.
TEST(DwarfSymbolsTest, SplitFilesWhosePathsAreNoneAreNotAskedFor) {
  for (const auto& [file, folder] : {std::pair{std::string(5000, 'x'), std::string("/src")},
                                     std::pair{std::string("a.dwo"), std::string(5000, '/')},
                                     std::pair{std::string("con.dwo"), std::string("/src")}}) {
    FakeFiles files;
    DwarfSymbols symbols = open(with(split_tables(file, folder)), files);
    SourceFrame frame;
    EXPECT_TRUE(symbols.index->find_line(0x1020, frame));
    chain(symbols, 0x1020);
    EXPECT_TRUE(files.asked.empty()) << files.asked.front().substr(0, 100);
  }
}

class DebugLinkTest : public testing::Test {
 protected:
  // Returns the image without DWARF, with the link.
  std::vector<std::byte> image(std::string_view name, std::uint32_t crc) {
    TableWriter link;
    link.text(name);
    while (link.size() % 4 != 0) link.u8(0);
    link.u32(crc);
    DebugImageBuilder builder;
    builder.section(".gnu_debuglink", link.data());
    return builder.build();
  }
  DebugLinkTest() {
    DebugImageBuilder builder;
    DwarfTables().add_to(builder);
    debug_ = builder.build(true);
    crc_ = crc32(debug_);
  }

  std::vector<std::byte> debug_;
  std::uint32_t crc_ = 0;
  FakeFiles files_;
};

TEST_F(DebugLinkTest, FileIsFoundBesideTheImageOrInItsFolder) {
  for (const char* path : {"C:\\bin\\app.debug", "C:\\bin\\.debug\\app.debug"}) {
    files_.files = {{path, debug_}};
    DwarfSymbols symbols = open(image("app.debug", crc_), files_);
    ASSERT_EQ(symbols.problem, "");
    EXPECT_EQ(symbols.path, path);
    EXPECT_EQ(chain(symbols, 0x1020), "inner /src/inc/b.h:3 < outer /src/a.c:12");
  }
}

TEST_F(DebugLinkTest, FileOfAnotherBuildIsRefused) {
  files_.files = {{"C:\\bin\\app.debug", debug_}};
  DwarfSymbols symbols = open(image("app.debug", crc_ + 1), files_);
  EXPECT_EQ(symbols.index, nullptr);
  EXPECT_EQ(symbols.problem, "the debug file app.debug is of another build");
  EXPECT_EQ(symbols.note, "not used: C:\\bin\\app.debug: the debug file belongs to another build of app.dll (its "
                          "checksum differs)");
  EXPECT_EQ(open(image("gone.debug", crc_), files_).problem, "no debug file gone.debug");
}

TEST_F(DebugLinkTest, FileThatIsForAnotherSystemIsRefusedWithTheReason) {
  const std::vector<std::byte> elf = elf_file();
  files_.files = {{"C:\\bin\\app.debug", elf}};
  DwarfSymbols symbols = open(image("app.debug", crc32(elf)), files_);
  EXPECT_EQ(symbols.index, nullptr);
  EXPECT_EQ(symbols.note,
            "not used: C:\\bin\\app.debug: it is an ELF file, and an image for Windows has COFF files");
}

TEST_F(DebugLinkTest, NameThatLeadsElsewhereIsNotOpened) {
  for (const char* name : {"..\\app.debug", "/etc/passwd", "\\\\host\\share\\x", "C:x", "..", ""}) {
    files_.asked.clear();
    EXPECT_EQ(open(image(name, crc_), files_).problem, "the file has no DWARF") << name;
    EXPECT_TRUE(files_.asked.empty()) << name;
  }
}

TEST(Crc32Test, CheckValueOfTheStandard) {
  const char text[] = "123456789";
  EXPECT_EQ(crc32(std::as_bytes(std::span(text, 9))), 0xCBF43926u);
}

}  // namespace
}  // namespace mixwalk
