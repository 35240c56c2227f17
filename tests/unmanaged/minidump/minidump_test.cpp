#include "unmanaged/minidump/minidump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

#include "tests/builders/dump_builder.h"

namespace mixwalk {
namespace {

using test::ByteWriter;
using test::DumpBuilder;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::vector<std::byte> bytes_of(std::string_view text) {
  std::vector<std::byte> bytes;
  for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
  return bytes;
}

MinidumpError error_of(const std::vector<std::byte>& file) { return Minidump::parse(file).error(); }

DumpBuilder one_thread() {
  DumpBuilder builder;
  builder.thread({.id = 0x1A8, .teb = 0x7000, .stack = 0x9000, .stack_bytes = 0x40,
                  .registers = DumpBuilder::at(0x1'8000'1234, 0x9000, 0x9020), .name = "Ada"});
  return builder;
}

TEST(Minidump, AThreadHasItsRegistersItsStackAndItsName) {
  const auto file = one_thread().build();
  const Minidump dump = Minidump::parse(file);
  ASSERT_EQ(dump.error(), MinidumpError::none);
  ASSERT_THAT(dump.threads(), SizeIs(1));
  const MinidumpThread& thread = dump.threads()[0];
  EXPECT_EQ(thread.id, 0x1A8u);
  EXPECT_EQ(thread.teb, 0x7000u);
  EXPECT_EQ(thread.stack_begin, 0x9000u);
  EXPECT_EQ(thread.stack_bytes, 0x40u);
  EXPECT_EQ(thread.name, "Ada");
  ASSERT_TRUE(thread.registers);
  EXPECT_EQ(thread.registers->rip, 0x1'8000'1234u);
  EXPECT_EQ(thread.registers->rsp(), 0x9000u);
  EXPECT_EQ((*thread.registers)[Register::rbp], 0x9020u);
  EXPECT_EQ(dump.system().build, 19045u);
  EXPECT_EQ(dump.time(), DumpBuilder::kTime);
}

TEST(Minidump, EveryRegisterHasItsPlace) {
  DumpBuilder::RegisterValues values;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0x100 + i;
  const auto file = DumpBuilder().thread({.id = 1, .registers = values}).build();
  const Minidump dump = Minidump::parse(file);
  ASSERT_THAT(dump.threads(), SizeIs(1));
  for (std::size_t i = 0; i < kGeneralRegisters; ++i) {
    EXPECT_EQ(dump.threads()[0].registers->general[i], 0x100 + i);
  }
  EXPECT_EQ(dump.threads()[0].registers->rip, 0x110u);
}

TEST(Minidump, AContextOfOtherRegistersOrAnotherProcessorIsNone) {
  DumpBuilder builder;
  builder.thread({.id = 1, .registers = DumpBuilder::at(1, 2), .context_flags = 0x100001});  // no integer registers
  builder.thread({.id = 2, .registers = DumpBuilder::at(1, 2), .context_flags = 0x01000B});  // x86
  builder.thread({.id = 3});
  const auto file = builder.build();
  const Minidump dump = Minidump::parse(file);
  ASSERT_THAT(dump.threads(), SizeIs(3));
  for (const MinidumpThread& thread : dump.threads()) EXPECT_FALSE(thread.registers) << thread.id;
}

TEST(Minidump, AModuleHasItsPathItsVersionAndItsPdb) {
  const auto file = one_thread()
                        .module(0x1'8000'0000, 0x5000, 0x5EED1234, "C:\\app\\orders.dll",
                                DumpBuilder::rsds(0xAB, 3, "D:\\out\\orders.pdb"), 0x0008'0000'0C35'6A4A)
                        .module(0x2'8000'0000, 0x6000, 7, "C:\\app\\plain.dll")
                        .build();
  const Minidump dump = Minidump::parse(file);
  ASSERT_THAT(dump.modules(), SizeIs(2));
  const MinidumpModule& orders = dump.modules()[0];
  EXPECT_EQ(orders.base, 0x1'8000'0000u);
  EXPECT_EQ(orders.size, 0x5000u);
  EXPECT_EQ(orders.timestamp, 0x5EED1234u);
  EXPECT_EQ(orders.path, "C:\\app\\orders.dll");
  EXPECT_EQ(orders.file_version, 0x0008'0000'0C35'6A4Au);
  ASSERT_TRUE(orders.pdb);
  EXPECT_EQ(symbol_store_id(*orders.pdb), "ABABABABABABABABABABABABABABABAB3");
  EXPECT_EQ(orders.pdb->path, "D:\\out\\orders.pdb");
  EXPECT_FALSE(dump.modules()[1].pdb);
  EXPECT_EQ(dump.modules()[1].file_version, 0u);
}

TEST(Minidump, PaddedListsAreReadAsOthers) {
  const auto file =
      one_thread()
          .module(0x1'8000'0000, 0x5000, 1, "C:\\a.dll")
          .memory32(0x9000, bytes_of("12345678"))
          .padded_lists()
          .build();
  const Minidump dump = Minidump::parse(file);
  ASSERT_EQ(dump.error(), MinidumpError::none);
  EXPECT_EQ(dump.threads()[0].id, 0x1A8u);
  EXPECT_EQ(dump.threads()[0].name, "Ada");
  EXPECT_EQ(dump.modules()[0].path, "C:\\a.dll");
  ASSERT_THAT(dump.memory(), SizeIs(1));
  EXPECT_EQ(dump.memory()[0].begin, 0x9000u);
}

TEST(Minidump, TheExceptionAndTheProcessAreThere) {
  const auto file = one_thread()
                        .unloaded(0x3'0000, 0x1000, 5, "gone.dll")
                        .exception(0x1A8, 0xC0000005, 0x1234, DumpBuilder::at(0x1234, 0x9008))
                        .misc(4711, 1'699'999'000)
                        .build();
  const Minidump dump = Minidump::parse(file);
  EXPECT_THAT(dump.modules(), IsEmpty()) << "what was unloaded is no module any more";
  ASSERT_TRUE(dump.exception());
  EXPECT_EQ(dump.exception()->thread, 0x1A8u);
  EXPECT_EQ(dump.exception()->code, 0xC0000005u);
  EXPECT_EQ(dump.exception()->address, 0x1234u);
  EXPECT_EQ(dump.exception()->registers->rsp(), 0x9008u);
  EXPECT_EQ(dump.process_id(), 4711u);
}

TEST(Minidump, UnloadedModulesAndWhatTheExceptionTouched) {
  const auto file = one_thread()
                        .unloaded(0x3'0000, 0x1000, 5, "gone.dll")
                        .unloaded(0x3'0000, 0x2000, 6, "older.dll")
                        .exception(0x1A8, 0xC0000005, 0x1234, DumpBuilder::at(0x1234, 0x9008), {1, 0x40})
                        .build();
  const Minidump dump = Minidump::parse(file);
  ASSERT_THAT(dump.unloaded(), SizeIs(2));
  EXPECT_EQ(dump.unloaded()[0].base, 0x3'0000u);
  EXPECT_EQ(dump.unloaded()[0].size, 0x1000u);
  EXPECT_EQ(dump.unloaded()[1].path, "older.dll");
  EXPECT_EQ(dump.exception()->parameter_count, 2u);
  EXPECT_EQ(dump.exception()->parameters[0], 1u);
  EXPECT_EQ(dump.exception()->parameters[1], 0x40u);
}

TEST(Minidump, AnExceptionsParametersAreNoMoreThanItsRecordHas) {
  ByteWriter raised;
  raised.u32(1).u32(0).u32(0xC0000005).u32(0).u64(0).u64(0x1234).u32(0xFFFF'FFFF).u32(0);
  for (int i = 0; i < 15; ++i) raised.u64(i + 1);
  const auto file = one_thread().stream(6, raised.u32(0).u32(0).bytes()).build();
  const Minidump dump = Minidump::parse(file);
  ASSERT_TRUE(dump.exception());
  EXPECT_EQ(dump.exception()->parameter_count, 15u);
  EXPECT_EQ(dump.exception()->parameters[14], 15u);
  EXPECT_FALSE(dump.exception()->registers);
}

TEST(Minidump, WithoutAListOfThreadsTheExceptionsThreadIsThere) {
  const auto raised = DumpBuilder().exception(0x77, 0xC0000005, 0x1234, DumpBuilder::at(0x1234, 0x9008)).build();
  EXPECT_EQ(error_of(raised), MinidumpError::none);
  EXPECT_THAT(Minidump::parse(raised).threads(), IsEmpty());
  ByteWriter without_registers;
  without_registers.u32(0x77).u32(0).zeros(160);
  EXPECT_EQ(error_of(DumpBuilder().stream(6, without_registers.bytes()).build()), MinidumpError::no_threads);
}

TEST(Minidump, AModuleWithoutANameHasThatOfItsPdb) {
  const auto file = one_thread()
                        .module(0x1'8000'0000, 0x5000, 1, "", DumpBuilder::rsds(1, 1, "D:\\out\\orders.core.pdb"))
                        .module(0x2'8000'0000, 0x5000, 1, "")
                        .build();
  const Minidump dump = Minidump::parse(file);
  EXPECT_EQ(dump.modules()[0].path, "orders.core");
  EXPECT_EQ(dump.modules()[1].path, "");
}

TEST(Minidump, TimesAndStartOfAThread) {
  ByteWriter info;
  info.u32(12).u32(64).u32(2);
  info.u32(0x999).zeros(60);  // for a thread that is not listed
  info.u32(0x1A8).zeros(12).u64(11).u64(0).u64(22).u64(33).u64(0x7FF0'0000).u64(1);
  const auto file = one_thread().stream(17, info.bytes()).build();
  const Minidump dump = Minidump::parse(file);
  EXPECT_EQ(dump.threads()[0].create_time, 11u);
  EXPECT_EQ(dump.threads()[0].kernel_time, 22u);
  EXPECT_EQ(dump.threads()[0].user_time, 33u);
  EXPECT_EQ(dump.threads()[0].start_address, 0x7FF0'0000u);
}

TEST(Minidump, NamesOutsideAsciiBecomeUtf8) {
  auto file = one_thread().build();
  const auto wanted = bytes_of({"A\0d\0a\0", 6});
  auto found = std::search(file.begin(), file.end(), wanted.begin(), wanted.end());
  ASSERT_NE(found, file.end());
  // The text is U+1F600, which has two units, and an unpaired first half.
  const auto units = bytes_of({"\x3D\xD8\x00\xDE\x3D\xD8", 6});
  std::copy(units.begin(), units.end(), found);
  EXPECT_EQ(Minidump::parse(file).threads()[0].name, "\xF0\x9F\x98\x80?");
}

// Tests that a file which is not a minidump of an x64 process gives an error that says what it is.

TEST(Minidump, FilesOfOtherKindsAreNamed) {
  EXPECT_EQ(error_of({}), MinidumpError::empty);
  EXPECT_EQ(error_of(bytes_of("PAGEDU64 and so on")), MinidumpError::kernel_dump);
  EXPECT_EQ(error_of(bytes_of("PAGEDUMP and so on")), MinidumpError::kernel_dump);
  EXPECT_EQ(error_of(bytes_of("PK\x03\x04 zip")), MinidumpError::archive);
  EXPECT_EQ(error_of(bytes_of("MSCF cab")), MinidumpError::archive);
  EXPECT_EQ(error_of(bytes_of("\x7F" "ELF\x02")), MinidumpError::elf_core);
  EXPECT_EQ(error_of(bytes_of("Thread 0x554\r\n  #0 ntdll.dll!NtWait\n")), MinidumpError::text);
  EXPECT_EQ(error_of(bytes_of({"\x01\x02\x00\xFF", 4})), MinidumpError::not_a_minidump);
  EXPECT_EQ(error_of(bytes_of("MDMP")), MinidumpError::truncated);
}

TEST(Minidump, OtherProcessorsAreNamed) {
  EXPECT_EQ(error_of(one_thread().machine(DumpBuilder::kX86).build()), MinidumpError::x86);
  EXPECT_EQ(error_of(one_thread().machine(DumpBuilder::kArm).build()), MinidumpError::arm);
  EXPECT_EQ(error_of(one_thread().machine(DumpBuilder::kArm64).build()), MinidumpError::arm64);
  EXPECT_EQ(error_of(one_thread().machine(6).build()), MinidumpError::other_machine);
  EXPECT_EQ(error_of(DumpBuilder().build()), MinidumpError::no_threads);
  const auto wow64 = one_thread()
                         .module(0x40'0000, 0x5000, 1, "C:\\app\\old32.exe")
                         .module(0x7000'0000, 0x5000, 1, "C:\\Windows\\System32\\WOW64.DLL");
  EXPECT_EQ(error_of(wow64.build()), MinidumpError::none);
  EXPECT_EQ(error_of(DumpBuilder(wow64).module(0x7100'0000, 0x5000, 1, "C:\\Windows\\System32\\wow64cpu.dll").build()),
            MinidumpError::wow64);
}

TEST(Minidump, EveryCutOfATableIsAnErrorAndNoneIsACrash) {
  const auto file = one_thread().module(0x1'8000'0000, 0x5000, 1, "C:\\a.dll").build();
  int whole = 0;
  for (std::size_t bytes = 0; bytes <= file.size(); ++bytes) {
    const std::vector<std::byte> cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(bytes));
    const MinidumpError error = error_of(cut);
    if (bytes < 32 + 12) {
      EXPECT_NE(error, MinidumpError::none) << bytes;
    }
    whole += error == MinidumpError::none;
  }
  // Only texts come behind the last table, so few truncations leave all tables whole.
  EXPECT_GT(whole, 0);
  EXPECT_LT(whole, 400);
}

TEST(Minidump, TablesOfMillionsAreRefused) {
  auto file = one_thread().build();
  // Changes the number in the thread list to one for which the stream has no room.
  const Minidump whole = Minidump::parse(file);
  ASSERT_EQ(whole.error(), MinidumpError::none);
  const auto id = bytes_of({"\xA8\x01\0\0\0\0\0\0", 8});
  auto found = std::search(file.begin(), file.end(), id.begin(), id.end());
  ASSERT_NE(found, file.end());
  *(found - 2) = std::byte{0x70};
  EXPECT_EQ(error_of(file), MinidumpError::truncated);

  ByteWriter list;
  list.u32(200'000).zeros(200'000 * 48);
  ByteWriter crafted;
  crafted.append({'M', 'D', 'M', 'P', 0x93, 0xA7, 0, 0}).u32(2).u32(32).u32(0).u32(0).u64(0);
  crafted.u32(7).u32(56).u32(56).u32(3).u32(list.size()).u32(112);
  crafted.u16(9).zeros(54).append(list.bytes());
  EXPECT_EQ(error_of(crafted.bytes()), MinidumpError::too_many);
}

TEST(Minidump, OfTwoStreamsOfOneKindTheFirstCounts) {
  ByteWriter other;
  other.u32(1).u32(0x777).zeros(44);
  const auto file = one_thread().stream(3, other.bytes()).build();
  const Minidump dump = Minidump::parse(file);
  ASSERT_THAT(dump.threads(), SizeIs(1));
  EXPECT_EQ(dump.threads()[0].id, 0x1A8u);
}

// Tests of the memory.

TEST(Minidump, RangesAreSortedAndThoseThatAdjoinAreOne) {
  const auto file = one_thread()
                        .memory(0x3000, bytes_of("cccc"))
                        .memory(0x1000, bytes_of("aaaa"))
                        .memory(0x1004, bytes_of("bbbb"))
                        .build();
  const Minidump dump = Minidump::parse(file);
  ASSERT_THAT(dump.memory(), SizeIs(2));
  EXPECT_EQ(dump.memory()[0].begin, 0x1000u);
  EXPECT_EQ(dump.memory()[0].bytes, 8u);
  EXPECT_EQ(dump.memory()[1].begin, 0x3000u);
  EXPECT_EQ(dump.missing_bytes(), 0u);
}

TEST(Minidump, OfOverlappingRangesTheLowerOneCounts) {
  const auto file = one_thread()
                        .memory(0x1000, bytes_of("aaaaaaaa"))
                        .memory(0x1004, bytes_of("bbbbbbbb"))
                        .memory(0x1002, bytes_of("cc"))
                        .build();
  const Minidump dump = Minidump::parse(file);
  ASSERT_THAT(dump.memory(), SizeIs(2));
  EXPECT_EQ(dump.memory()[0].begin, 0x1000u);
  EXPECT_EQ(dump.memory()[0].bytes, 8u);
  EXPECT_EQ(dump.memory()[1].begin, 0x1008u);
  EXPECT_EQ(dump.memory()[1].bytes, 4u);
  EXPECT_EQ(dump.file()[dump.memory()[1].offset], std::byte{'b'});
}

// The third range begins before the rest of the second. (Found by minidump_fuzz.)
TEST(Minidump, OfThreeOverlappingRangesEachAddressIsKnownOnce) {
  const auto file = one_thread()
                        .memory(0x1000, bytes_of("aaaaaaaa"))
                        .memory(0x1002, bytes_of("bbbbbbbbbbbb"))
                        .memory(0x1004, bytes_of("cccccccccccccc"))
                        .build();
  const Minidump dump = Minidump::parse(file);
  ASSERT_THAT(dump.memory(), SizeIs(3));
  EXPECT_EQ(dump.memory()[1].begin, 0x1008u);
  EXPECT_EQ(dump.memory()[1].bytes, 6u);
  EXPECT_EQ(dump.memory()[2].begin, 0x100Eu);
  EXPECT_EQ(dump.memory()[2].bytes, 4u);
}

TEST(Minidump, RangesThatPassTheEndOfAllAddressesAreLeftOut) {
  const auto file = one_thread()
                        .memory(0x1000, bytes_of("aaaa"))
                        .memory(UINT64_MAX - 3, bytes_of("bbbbb"))
                        .build();
  const Minidump dump = Minidump::parse(file);
  ASSERT_THAT(dump.memory(), SizeIs(1));
  EXPECT_EQ(dump.memory()[0].begin, 0x1000u);
  const auto whole = one_thread().memory(UINT64_MAX - 3, bytes_of("bbbb")).build();
  ASSERT_THAT(Minidump::parse(whole).memory(), SizeIs(1));
}

TEST(Minidump, MemoryBeyondTheEndOfTheFileIsMissing) {
  auto file = one_thread().memory(0x1000, bytes_of("aaaabbbb")).build();
  file.resize(file.size() - 4);
  const Minidump dump = Minidump::parse(file);
  ASSERT_EQ(dump.error(), MinidumpError::none);
  ASSERT_THAT(dump.memory(), SizeIs(1));
  EXPECT_EQ(dump.memory()[0].bytes, 4u);
  EXPECT_EQ(dump.missing_bytes(), 4u);
}

TEST(Minidump, PromisesWithoutEndEndAtTheFile) {
  const auto file = one_thread()
                        .memory(0x1000, bytes_of("aaaa"))
                        .promised(0x10'0000, UINT64_MAX - 0x20'0000)
                        .promised(0x20, UINT64_MAX - 0x20'0000)
                        .build();
  const Minidump dump = Minidump::parse(file);
  EXPECT_EQ(dump.error(), MinidumpError::none);
  EXPECT_GT(dump.missing_bytes(), UINT64_MAX / 2);
}

TEST(Minidump, RegionsAreSortedAndDisjoint) {
  const auto file = one_thread()
                        .region(0x5000, 0x1000, 0x1000, 0x20)
                        .region(0x1000, 0x2000, 0x1000, 0x04)
                        .region(0x2000, 0x9000, 0x1000, 0x40)
                        .build();
  const Minidump dump = Minidump::parse(file);
  ASSERT_THAT(dump.regions(), SizeIs(2));
  EXPECT_EQ(dump.regions()[0].begin, 0x1000u);
  EXPECT_EQ(dump.regions()[1].begin, 0x5000u);
  EXPECT_EQ(dump.regions()[1].protection, 0x20u);
}

// All modules of a small file have the same long name, which would take gigabytes if it were read for each of them.
TEST(Minidump, TextsAreBounded) {
  const std::string name(30'000, 'x');
  ByteWriter text;
  text.u32(60'000);
  for (const char c : name) text.u16(static_cast<unsigned char>(c));
  const std::uint32_t kModules = 20'000;
  ByteWriter list;
  list.u32(kModules);
  for (std::uint32_t i = 0; i < kModules; ++i) list.u64(0x10000 * i).u32(0x1000).u32(0).u32(0).u32(180).zeros(84);
  ByteWriter crafted;
  crafted.append({'M', 'D', 'M', 'P', 0x93, 0xA7, 0, 0}).u32(3).u32(32).u32(0).u32(0).u64(0);
  const std::uint32_t kTextAt = 180;
  const auto list_at = static_cast<std::uint32_t>(kTextAt + text.size());
  crafted.u32(7).u32(56).u32(68).u32(3).u32(52).u32(124).u32(4).u32(list.size()).u32(list_at);
  crafted.u16(9).zeros(54).u32(1).zeros(52).append(text.bytes()).append(list.bytes());
  const auto file = crafted.bytes();
  const Minidump dump = Minidump::parse(file);
  ASSERT_EQ(dump.error(), MinidumpError::none);
  std::size_t bytes = 0;
  for (const MinidumpModule& module : dump.modules()) bytes += module.path.size();
  EXPECT_GT(bytes, 5'000'000u);
  EXPECT_LE(bytes, std::size_t{16} << 20);
}

}  // namespace
}  // namespace mixwalk
