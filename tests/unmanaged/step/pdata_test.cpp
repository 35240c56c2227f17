#include "unmanaged/step/pdata.h"

#include <gtest/gtest.h>

#include "tests/builders/code_builder.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kImage = 0x1'4000'0000;
constexpr std::uint32_t kPdata = 0x800;

class PdataTest : public testing::Test {
 protected:
  PdataTest() {
    image_.put_entry(kPdata, 0x100, 0x140, 0x900);
    image_.put_entry(kPdata + 12, 0x140, 0x180, 0x910);
    image_.put_entry(kPdata + 24, 0x200, 0x280, 0x920);
  }
  EntrySearch find(std::uint32_t rva) { return find_entry(image_, span_, rva); }

  BuiltMemory image_{kImage, 0x1000};
  ModuleSpan span_{.base = kImage, .size = 0x1000, .pdata_rva = kPdata, .pdata_count = 3};
};

TEST_F(PdataTest, EveryAddressOfAFunctionButItsEnd) {
  EXPECT_EQ(find(0x100).entry.unwind, 0x900u);
  EXPECT_EQ(find(0x13F).entry.unwind, 0x900u);
  EXPECT_EQ(find(0x140).entry.unwind, 0x910u);
  EXPECT_EQ(find(0x200).entry.unwind, 0x920u);
  EXPECT_EQ(find(0x27F).entry.unwind, 0x920u);
}

TEST_F(PdataTest, BeforeBetweenAndBehindTheFunctions) {
  for (const std::uint32_t rva : {0u, 0xFFu, 0x180u, 0x1FFu, 0x280u, 0xFFFF'FFFFu}) {
    EXPECT_FALSE(find(rva).found) << rva;
    EXPECT_EQ(find(rva).fault, StepFault::none) << rva;
  }
}

TEST_F(PdataTest, ImageWithoutATable) {
  span_.pdata_count = 0;
  EXPECT_FALSE(find(0x100).found);
  EXPECT_EQ(find(0x100).fault, StepFault::none);
}

TEST_F(PdataTest, IndirectEntryLeadsToTheRealOne) {
  image_.put_entry(kPdata + 24, 0x200, 0x280, kPdata + 1);
  const EntrySearch search = find(0x210);
  ASSERT_TRUE(search.found);
  EXPECT_EQ(search.entry.begin, 0x100u);
  EXPECT_EQ(search.entry.unwind, 0x900u);
}

TEST_F(PdataTest, IndirectEntryThatLeadsToAnother) {
  image_.put_entry(kPdata + 24, 0x200, 0x280, kPdata + 24 + 1);  // the entry refers to itself
  EXPECT_EQ(find(0x210).fault, StepFault::bad_unwind);
  image_.put_entry(kPdata + 24, 0x200, 0x280, 0x0FFF'0001);  // the entry refers to no memory
  EXPECT_EQ(find(0x210).fault, StepFault::unreadable_unwind);
}

TEST_F(PdataTest, TableThatEndsOutsideTheImage) {
  span_.pdata_count = 0x1000'0000;
  EXPECT_EQ(find(0x100).fault, StepFault::unreadable_unwind);
}

class PdataHints : public PdataTest {
 protected:
  EntrySearch find(std::uint32_t rva) { return find_entry(image_, span_, rva, &hints_); }

  EntryHints hints_;
};

TEST_F(PdataHints, SecondSearchReadsOneEntry) {
  EXPECT_EQ(find(0x210).entry.unwind, 0x920u);
  image_.put_entry(kPdata + 12, 0x400, 0x480, 0x910);  // the search begins here, and would go in the wrong direction
  EXPECT_FALSE(PdataTest::find(0x210).found);
  EXPECT_EQ(find(0x210).entry.unwind, 0x920u);
  EXPECT_EQ(find(0x210).address, kImage + kPdata + 24);
}

TEST_F(PdataHints, OfAnImageThatAnotherOneReplaced) {
  EXPECT_EQ(find(0x150).entry.unwind, 0x910u);
  image_.put_entry(kPdata, 0x100, 0x110, 0xA00);
  image_.put_entry(kPdata + 12, 0x110, 0x120, 0xA10);
  image_.put_entry(kPdata + 24, 0x130, 0x280, 0xA20);
  EXPECT_EQ(find(0x150).entry.unwind, 0xA20u);
  span_.pdata_count = 1;
  EXPECT_FALSE(find(0x150).found) << "its table is shorter";
}

TEST_F(PdataHints, OfAnEntryThatIsIndirectNow) {
  EXPECT_EQ(find(0x210).entry.unwind, 0x920u);
  image_.put_entry(kPdata + 24, 0x200, 0x280, kPdata + 1);
  EXPECT_EQ(find(0x210).entry.unwind, 0x900u);
  EXPECT_EQ(find(0x210).address, kImage + kPdata);
}

}  // namespace
}  // namespace mixwalk
