#include "unmanaged/minidump/memory_addition.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/builders/dump_builder.h"
#include "unmanaged/minidump/dump_memory.h"

namespace mixwalk {
namespace {

using test::DumpBuilder;

std::vector<std::byte> filled(std::size_t bytes, int value) {
  return std::vector<std::byte>(bytes, static_cast<std::byte>(value));
}

// Returns a dump without the process's memory, as in MiniDumpNormal: the stack is in the list of 32-bit ranges.
std::vector<std::byte> small_dump() {
  return DumpBuilder()
      .thread(
          {.id = 7, .teb = 0x7000, .stack = 0x9000, .stack_bytes = 0x40, .registers = DumpBuilder::at(0x1234, 0x9000)})
      .thread({.id = 8, .teb = 0x8000})
      .module(0x10000, 0x2000, 0x5E5E, "C:\\a.dll")
      .memory32(0x9000, filled(0x40, 0x11))
      .misc(4711, 1)
      .build();
}

// Returns the file as it is when everything has been written.
std::vector<std::byte> whole(const std::vector<std::byte>& dump, const MemoryAddition& addition,
                             const std::vector<std::vector<std::byte>>& memory) {
  std::vector<std::byte> file = dump;
  file.resize(addition.tables_at);
  file.insert(file.end(), addition.tables.begin(), addition.tables.end());
  for (const auto& piece : memory) file.insert(file.end(), piece.begin(), piece.end());
  std::ranges::copy(addition.header, file.begin());
  return file;
}

TEST(MemoryAddition, TheDumpHasItsTablesStillAndAllOfTheMemory) {
  const auto dump = small_dump();
  const std::vector<DumpedRange> ranges = {{0x9000, 0x1000}, {0x10000, 0x2000}, {0x7fff'0000'0000, 0x1000}};
  const std::vector<DumpedName> names = {{8, u"Gr\u00fcn"}, {7, u""}};
  const auto addition = add_memory(dump, dump.size(), ranges, names);
  ASSERT_TRUE(addition);
  const auto file = whole(dump, *addition, {filled(0x1000, 1), filled(0x2000, 2), filled(0x1000, 3)});
  const Minidump read = Minidump::parse(file);
  ASSERT_EQ(read.error(), MinidumpError::none);
  EXPECT_EQ(read.flags() & 2, 2u);  // MiniDumpWithFullMemory
  EXPECT_EQ(read.time(), DumpBuilder::kTime);
  EXPECT_EQ(read.missing_bytes(), 0u);
  EXPECT_EQ(read.process_id(), 4711u);
  ASSERT_EQ(read.modules().size(), 1u);
  EXPECT_EQ(read.modules()[0].path, "C:\\a.dll");
  ASSERT_EQ(read.threads().size(), 2u);
  EXPECT_EQ(read.threads()[0].registers->rip, 0x1234u);
  EXPECT_EQ(read.threads()[0].name, "");
  EXPECT_EQ(read.threads()[1].name, "Gr\u00fcn");
  const DumpMemory memory(read);
  // The memory comes from the ranges, and not from the small dump's list of stacks.
  EXPECT_EQ(memory.read_value<std::uint8_t>(0x9000), 1);
  EXPECT_EQ(memory.read_value<std::uint8_t>(0x9fff), 1);
  EXPECT_EQ(memory.read_value<std::uint8_t>(0x11fff), 2);
  EXPECT_EQ(memory.read_value<std::uint8_t>(0x7fff'0000'0fff), 3);
  EXPECT_FALSE(memory.read_value<std::uint8_t>(0xa000));
}

TEST(MemoryAddition, UntilTheHeaderIsWrittenTheFileIsTheDumpThatItWas) {
  const auto dump = small_dump();
  const std::vector<DumpedRange> ranges = {{0x20000, 0x1000}};
  auto addition = add_memory(dump, dump.size(), ranges, {});
  ASSERT_TRUE(addition);
  addition->header.clear();
  const auto file = whole(dump, *addition, {});
  const Minidump read = Minidump::parse(file);
  ASSERT_EQ(read.error(), MinidumpError::none);
  EXPECT_EQ(read.missing_bytes(), 0u);
  EXPECT_EQ(DumpMemory(read).read_value<std::uint8_t>(0x9000), 0x11);
}

TEST(MemoryAddition, MemoryThatWasNotWrittenIsMissing) {
  const auto dump = small_dump();
  const std::vector<DumpedRange> ranges = {{0x20000, 0x1000}};
  const auto addition = add_memory(dump, dump.size(), ranges, {});
  ASSERT_TRUE(addition);
  const auto file = whole(dump, *addition, {filled(0xff0, 1)});
  EXPECT_EQ(Minidump::parse(file).missing_bytes(), 0x10u);
}

TEST(MemoryAddition, WhatIsNoDumpAndWhatIsTooLargeGetsNone) {
  const auto dump = small_dump();
  EXPECT_FALSE(add_memory({}, 0, {}, {}));
  EXPECT_FALSE(add_memory(filled(100, 0), 100, {}, {}));
  for (std::size_t bytes = 0; bytes < 32 + 12; ++bytes) {
    EXPECT_FALSE(add_memory(std::span(dump).first(bytes), bytes, {}, {})) << bytes;
  }
  EXPECT_FALSE(add_memory(dump, 0xffff'ffd0, {}, {}));
  EXPECT_TRUE(add_memory(dump, 0xffff'f000, {}, {}));
}

// A dump of two threads with room for their names.
DumpBuilder with_room(std::size_t bytes) {
  DumpBuilder dump;
  dump.thread({.id = 7, .teb = 0x7000, .name = "written"}).thread({.id = 8, .teb = 0x8000});
  return dump.stream(kNamesRoomStream, filled(bytes, 0));
}

std::vector<std::byte> changed(std::vector<std::byte> dump, const NamesChange& change) {
  std::ranges::copy(change.names, dump.begin() + static_cast<std::ptrdiff_t>(change.names_at));
  std::ranges::copy(change.entry, dump.begin() + static_cast<std::ptrdiff_t>(change.entry_at));
  return dump;
}

TEST(NamesRoom, TheThreadsHaveTheirNames) {
  const std::vector<DumpedName> names = {{7, u"Ada"}, {8, u"Gr\u00fcn"}};
  const auto dump = with_room(names_room(names)).without_names().build();
  const auto change = fill_names_room(dump, names);
  ASSERT_TRUE(change);
  const auto file = changed(dump, *change);
  const Minidump read = Minidump::parse(file);
  ASSERT_EQ(read.error(), MinidumpError::none);
  ASSERT_EQ(read.threads().size(), 2u);
  EXPECT_EQ(read.threads()[0].name, "Ada");
  EXPECT_EQ(read.threads()[1].name, "Gr\u00fcn");
}

TEST(NamesRoom, TheWritersOwnNamesStay) {
  const std::vector<DumpedName> names = {{7, u"Ada"}, {8, u"Bob"}};
  const auto dump = with_room(names_room(names)).build();
  const auto change = fill_names_room(dump, names);
  ASSERT_TRUE(change);
  EXPECT_TRUE(change->names.empty());
  const auto file = changed(dump, *change);
  const Minidump read = Minidump::parse(file);
  ASSERT_EQ(read.error(), MinidumpError::none);
  EXPECT_EQ(read.threads()[0].name, "written");
  EXPECT_EQ(read.threads()[1].name, "");
  EXPECT_FALSE(fill_names_room(file, names)) << "the room is still in the directory";
}

TEST(NamesRoom, ADumpWithoutRoom) {
  const std::vector<DumpedName> names = {{7, u"Ada"}};
  EXPECT_FALSE(fill_names_room(small_dump(), names));
  EXPECT_FALSE(fill_names_room({}, names));
  EXPECT_FALSE(fill_names_room(with_room(8).without_names().build(), names));
}

}  // namespace
}  // namespace mixwalk
