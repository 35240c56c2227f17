#include "walker/clr/contracts/descriptor.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "tests/builders/byte_writer.h"
#include "tests/builders/code_builder.h"
#include "tests/builders/image_builder.h"
#include "tests/builders/paged_memory.h"

namespace mixwalk {
namespace {

using test::ByteWriter;
using test::ImageBuilder;

TEST(Descriptor, FieldsSizesGlobalsAndContracts) {
  const auto descriptor = ContractDescriptor::parse(R"({"version":0,"baseline":"empty",
      "types":{"Thread":{"!":64,"Id":16,"LinkNext":[120,"pointer"],"Hex":"0x1c"}},
      "globals":{"Mask":["0x7fffffffffffffff","uint64"],"Plain":5,"Store":[[2],"pointer"],"Bare":[1],
                 "Name":["windows","string"]},
      "contracts":{"Thread":1,"Later":"c2"}})",
                                                    {0, 0x1000, 0x2000});
  ASSERT_TRUE(descriptor);
  EXPECT_EQ(descriptor->offset("Thread", "Id"), 16u);
  EXPECT_EQ(descriptor->offset("Thread", "LinkNext"), 120u);
  EXPECT_EQ(descriptor->offset("Thread", "Hex"), 0x1Cu);
  EXPECT_EQ(descriptor->offset("Thread", "None"), std::nullopt);
  EXPECT_EQ(descriptor->offset("None", "Id"), std::nullopt);
  EXPECT_EQ(descriptor->size("Thread"), 64u);
  EXPECT_EQ(descriptor->size("None"), std::nullopt);
  EXPECT_EQ(descriptor->global("Mask"), 0x7FFF'FFFF'FFFF'FFFFu);
  EXPECT_EQ(descriptor->global("Plain"), 5u);
  EXPECT_EQ(descriptor->global("Store"), 0x2000u);
  EXPECT_EQ(descriptor->global("Bare"), 0x1000u);
  EXPECT_EQ(descriptor->global("Name"), std::nullopt);
  EXPECT_EQ(descriptor->contract("Thread"), "1");
  EXPECT_EQ(descriptor->contract("Later"), "c2");
  EXPECT_EQ(descriptor->contract("None"), "");
}

TEST(Descriptor, AddedDataDoesNotReplaceThatOfTheRuntime) {
  auto descriptor =
      ContractDescriptor::parse(R"({"version":0,"types":{"Module":{"Base":200}},"contracts":{"A":3}})", {});
  ASSERT_TRUE(descriptor);
  descriptor->add_offset("Module", "Base", 192);
  descriptor->add_offset("Module", "Path", 8);
  descriptor->add_contract("A", "1");
  EXPECT_EQ(descriptor->offset("Module", "Base"), 200u);
  EXPECT_EQ(descriptor->offset("Module", "Path"), 8u);
  EXPECT_EQ(descriptor->contract("A"), "3");
}

TEST(Descriptor, TextsThatLie) {
  EXPECT_FALSE(ContractDescriptor::parse("", {}));
  EXPECT_FALSE(ContractDescriptor::parse("[1]", {}));
  EXPECT_FALSE(ContractDescriptor::parse(R"({"version":"one"})", {}));
  EXPECT_FALSE(ContractDescriptor::parse(R"({"version":0)", {}));
  EXPECT_FALSE(ContractDescriptor::parse(std::string(500'000, '['), {}));
  const auto descriptor = ContractDescriptor::parse(R"({"version":0,
      "types":{"A":{"Huge":4294967296,"Less":-1,"Text":"x","List":[],"Deep":[[[1]]],"Half":1.5},"B":7},
      "globals":{"Far":[[9],"pointer"],"Less":[[-1],"pointer"],"List":[[]],"Null":null},
      "contracts":{"C":-1,"D":[1]}})",
                                                    {0});
  ASSERT_TRUE(descriptor);
  for (const char* field : {"Huge", "Less", "Text", "List", "Deep", "Half"}) {
    EXPECT_EQ(descriptor->offset("A", field), std::nullopt) << field;
  }
  for (const char* name : {"Far", "Less", "List", "Null"}) EXPECT_EQ(descriptor->global(name), std::nullopt) << name;
  EXPECT_EQ(descriptor->contract("C"), "");
  EXPECT_EQ(descriptor->contract("D"), "");
}

// The header at `at`, its text behind it, and its pointers behind that.
void put_descriptor(test::PagedMemory& memory, std::uint64_t at, const std::string& text,
                    const std::vector<std::uint64_t>& pointers) {
  const std::uint64_t text_at = at + 0x40, pointers_at = at + 0x1000;
  ByteWriter header;
  header.u64(0x0043414443434E44).u32(1).u32(text.size()).u64(text_at).u32(pointers.size()).u32(0).u64(pointers_at);
  const std::vector<std::byte> bytes = header.bytes();
  for (std::size_t i = 0; i < bytes.size(); ++i) memory.put(at + i, bytes[i]);
  for (std::size_t i = 0; i < text.size(); ++i) memory.put(text_at + i, text[i]);
  for (std::size_t i = 0; i < pointers.size(); ++i) memory.put(pointers_at + 8 * i, pointers[i]);
}

// In the form of .NET 11, where the collector has a descriptor of its own.
TEST(Descriptor, PartsOfADescriptor) {
  constexpr std::uint64_t kWhole = 0x1'0000, kPart = 0x2'0000, kVariable = 0x3'0000;
  test::PagedMemory memory;
  put_descriptor(memory, kWhole,
                 R"({"version":2,"baseline":"empty","types":{"Thread":{"Id":16}},"globals":{"Store":[[2],"pointer"]},
                     "subDescriptors":{"GC":[[1],"pointer"],"None":[[3],"pointer"],"Far":[[9],"pointer"]},
                     "contracts":{"Thread":"c1"}})",
                 {0, kVariable, 0x4000, kVariable + 8});
  put_descriptor(memory, kPart,
                 R"({"version":2,"types":{"Generation":{"!":256,"StartSegment":56},"Thread":{"Id":99}},
                     "globals":{"MaxGeneration":[[1],"pointer"]},"subDescriptors":{},"contracts":{"GC":"c1"}})",
                 {0, 0x5000});
  memory.put(kVariable, kPart);
  memory.put(kVariable + 8, std::uint64_t{0});
  const auto read = [&] { return ContractDescriptor::read(memory, kWhole, 0); };
  const auto descriptor = read();
  ASSERT_TRUE(descriptor);
  EXPECT_EQ(descriptor->contract("GC"), "c1");
  EXPECT_EQ(descriptor->size("Generation"), 256u);
  EXPECT_EQ(descriptor->offset("Generation", "StartSegment"), 56u);
  EXPECT_EQ(descriptor->global("MaxGeneration"), 0x5000u);
  EXPECT_EQ(descriptor->global("Store"), 0x4000u);
  EXPECT_EQ(descriptor->offset("Thread", "Id"), 16u) << "a part replaces nothing";
  memory.put(kVariable, kWhole);  // a descriptor that is its own part
  ASSERT_TRUE(read());
  EXPECT_EQ(read()->contract("GC"), "");
  memory.put(kVariable, std::uint64_t{0x7'0000});  // nothing is there
  ASSERT_TRUE(read());
  EXPECT_EQ(read()->contract("Thread"), "c1");
}

TEST(Descriptor, NoImageAtTheBase) {
  const BuiltMemory memory(0x10000, 0x1000);
  EXPECT_FALSE(ContractDescriptor::find(memory, 0x10000));
  EXPECT_FALSE(ContractDescriptor::read(memory, 0x10000, 0));
  EXPECT_FALSE(ContractDescriptor::read(memory, ~0ull, 0));
}

// The memory has only what the image does not change: the text. The file has the rest, at its preferred base.
TEST(Descriptor, BeginsInTheFileIfTheMemoryLacksIt) {
  constexpr std::uint64_t kBase = 0x10'0000;
  constexpr std::uint32_t kText = ImageBuilder::kCode, kRelocations = ImageBuilder::kCode + 0x80;
  const std::string text = R"({"version":0,"contracts":{"Thread":1}})";
  ImageBuilder builder;
  // Two addresses of 64 bits, at kData + 0x10 and + 0x20.
  builder.put_code(kRelocations, {0, 0x30, 0, 0, 12, 0, 0, 0, 0x10, 0xA0, 0x20, 0xA0});
  std::vector<std::byte> file = builder.import("a.dll", "b").build();
  constexpr std::size_t kRelocationTableAt = ImageBuilder::kDirectoriesAt + 5 * 8;
  ImageBuilder::put32(file, kRelocationTableAt, kRelocations);
  ImageBuilder::put32(file, kRelocationTableAt + 4, 12);
  ByteWriter header;
  header.u64(0x0043414443434E44).u32(1).u32(static_cast<std::uint32_t>(text.size())).u64(kText).u64(0).u64(kText);
  std::memcpy(file.data() + ImageBuilder::offset_of(file, ImageBuilder::kData), header.bytes().data(), 40);
  BuiltMemory memory(kBase + kText, 0x1000);
  for (std::uint32_t i = 0; i < text.size(); ++i) memory.put(i, {text[i]});
  EXPECT_FALSE(ContractDescriptor::read(memory, kBase, ImageBuilder::kData));
  const auto descriptor = ContractDescriptor::read(memory, kBase, ImageBuilder::kData, file);
  ASSERT_TRUE(descriptor);
  EXPECT_EQ(descriptor->contract("Thread"), "1");
  file.resize(0x300);
  EXPECT_FALSE(ContractDescriptor::read(memory, kBase, ImageBuilder::kData, file));
}

}  // namespace
}  // namespace mixwalk
