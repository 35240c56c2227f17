#include "tests/symbols/dwarf/dwarf_builder.h"

namespace mixwalk::test {
namespace {

// DWARF 5, tables 7.3 (tags), 7.5 (attributes), 7.6 (forms).
enum : unsigned {
  kCompileUnit = 0x11,
  kSubprogram = 0x2e,
  kInlined = 0x1d,
  kBlock = 0x0b,
  kNamespace = 0x39,
  kStructure = 0x13,
  kName = 0x03,
  kStatements = 0x10,
  kLowPc = 0x11,
  kHighPc = 0x12,
  kFolder = 0x1b,
  kOrigin = 0x31,
  kSpecification = 0x47,
  kRanges = 0x55,
  kCallFile = 0x58,
  kCallLine = 0x59,
  kLinkageName = 0x6e,
  kAddress = 0x01,
  kData2 = 0x05,
  kData4 = 0x06,
  kString = 0x08,
  kData1 = 0x0b,
  kRef4 = 0x13,
  kOffset = 0x17,
};
constexpr std::uint64_t kBase = DebugImageBuilder::kImageBase;

void abbreviation(TableWriter& into, unsigned code, unsigned tag, bool children,
                  std::initializer_list<std::pair<unsigned, unsigned>> attributes) {
  into.uleb(code).uleb(tag).u8(children ? 1 : 0);
  for (const auto& [attribute, form] : attributes) into.uleb(attribute).uleb(form);
  into.uleb(0).uleb(0);
}

}  // namespace

DwarfTables::DwarfTables() {
  TableWriter& a = abbreviations;
  abbreviation(
      a, 1, kCompileUnit, true,
      {{kName, kString}, {kFolder, kString}, {kLowPc, kAddress}, {kHighPc, kData4}, {kStatements, kOffset}});
  abbreviation(a, 2, kSubprogram, false, {{kName, kString}});                            // an abstract function
  abbreviation(a, 3, kSubprogram, true, {{kName, kString}, {kLowPc, kAddress}, {kHighPc, kData4}});
  abbreviation(a, 4, kBlock, true, {{kLowPc, kAddress}, {kHighPc, kData4}});
  abbreviation(
      a, 5, kInlined, false,
      {{kOrigin, kRef4}, {kLowPc, kAddress}, {kHighPc, kData4}, {kCallFile, kData1}, {kCallLine, kData2}});
  abbreviation(a, 6, kInlined, false,
               {{kOrigin, kRef4}, {kRanges, kOffset}, {kCallFile, kData1}, {kCallLine, kData2}});
  abbreviation(a, 7, kNamespace, true, {{kName, kString}});
  abbreviation(a, 8, kSubprogram, false, {{kName, kString}, {kLinkageName, kString}});   // a declaration
  abbreviation(a, 9, kSubprogram, false, {{kSpecification, kRef4}, {kLowPc, kAddress}, {kHighPc, kData4}});
  abbreviation(a, 10, kSubprogram, true, {{kName, kString}});  // an abstract function, with its local functions
  abbreviation(a, 11, kStructure, true, {});
  a.u8(0);

  // Offsets count first from the unit's DW_AT_low_pc, then from another base.
  ranges.u64(0x40).u64(0x48).u64(UINT64_MAX).u64(kBase + 0x1050).u64(0).u64(8).u64(0).u64(0);

  TableWriter& d = info;
  d.u32(0).u16(4).u32(0).u8(8);  // the header: length, version, abbreviations, bytes of an address
  d.uleb(1).text("a.c").text("/src").u64(kBase + 0x1000).u32(0x150).u32(0);
  const std::uint32_t inner = d.size();
  d.uleb(2).text("inner");
  d.uleb(3).text("outer").u64(kBase + 0x1000).u32(0x100);
  d.uleb(4).u64(kBase + 0x1010).u32(0x30);
  d.uleb(5).u32(inner).u64(kBase + 0x1020).u32(0x10).u8(1).u16(12);
  d.u8(0);  // ends the block
  d.uleb(6).u32(inner).u32(0).u8(1).u16(15);
  d.u8(0);  // ends outer
  d.uleb(7).text("space");
  const std::uint32_t declaration = d.size();
  d.uleb(8).text("plain").text("_ZN5plainEv");
  d.u8(0);  // ends the namespace
  d.uleb(9).u32(declaration).u64(kBase + 0x1100).u32(0x40);
  d.uleb(10).text("abstract").uleb(11);
  d.uleb(3).text("local").u64(kBase + 0x1140).u32(0x10).u8(0);
  d.u8(0).u8(0);  // ends the class and the function
  d.u8(0);  // ends the unit
  d.set32(0, d.size() - 4);

  TableWriter header;  // of the line table, from minimum_instruction_length on
  header.u8(1).u8(1).u8(1).u8(0xFB).u8(14).u8(13);
  header.bytes({0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1});  // operands of the standard opcodes
  header.text("inc").u8(0);
  header.text("a.c").uleb(0).uleb(0).uleb(0);
  header.text("b.h").uleb(1).uleb(0).uleb(0).u8(0);
  TableWriter& l = lines;
  l.u32(0).u16(4).u32(header.size()).bytes(header.data());
  const auto row = [&](unsigned advance, unsigned file, int line) {
    l.u8(2).uleb(advance).u8(4).uleb(file).u8(3).sleb(line).u8(1);
  };
  l.u8(0).uleb(9).u8(2).u64(kBase + 0x1000);  // DW_LNE_set_address
  row(0, 1, 9);
  row(0x20, 2, -7);
  row(0x10, 1, 10);
  row(0xD0, 1, 7);
  l.u8(2).uleb(0x40).u8(0).uleb(1).u8(1);  // DW_LNE_end_sequence
  l.set32(0, l.size() - 4);
}

void DwarfTables::add_to(DebugImageBuilder& image) const {
  image.section(".debug_abbrev", abbreviations.data());
  image.section(".debug_info", info.data());
  image.section(".debug_line", lines.data());
  image.section(".debug_ranges", ranges.data());
}

}  // namespace mixwalk::test
