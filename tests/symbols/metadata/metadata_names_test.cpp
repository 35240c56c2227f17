#include "symbols/metadata/metadata_names.h"

#include <gtest/gtest.h>

#include "tests/builders/metadata_builder.h"
#include "unmanaged/step/byte_memory.h"

namespace mixwalk {
namespace {

using test::ByteWriter;
using test::MetadataBuilder;

class MetadataNamesTest : public testing::Test {
 protected:
  MetadataNames open_names(const MetadataBuilder& builder) {
    bytes_ = builder.build();
    memory_.emplace(bytes_);
    const auto streams = read_metadata_root(*memory_, 0, bytes_.size());
    return MetadataNames(MetadataTables::open(*memory_, streams.value()).value());
  }
  std::string declared(const MetadataNames& names, std::uint32_t token) {
    const auto method = names.method(token);
    return method ? names.type_name(method->type) + "::" + method->name +
                        format_parameters(method->signature, names, {}).value_or("(?)")
                  : "none";
  }

 private:
  std::vector<std::byte> bytes_;
  std::optional<ByteMemory> memory_;
};

TEST_F(MetadataNamesTest, MethodsAndTheirTypes) {
  const MetadataNames names = open_names(test::sample_metadata());
  EXPECT_EQ(declared(names, 0x06000001), "Shop.Orders`1::.ctor()");
  EXPECT_EQ(declared(names, 0x06000002), "Shop.Orders`1::Add(System.Int32, System.String)");
  EXPECT_EQ(declared(names, 0x06000003), "Shop.Orders`1+Line::Send(!0)");
  EXPECT_EQ(declared(names, 0x06000004), "Shop.Native::Wait()");
  EXPECT_EQ(declared(names, 0x06000000), "none");
  EXPECT_EQ(declared(names, 0x06000006), "none");
  EXPECT_EQ(declared(names, 0x0A000001), "none");
}

TEST_F(MetadataNamesTest, NestedTypesAndReferences) {
  const MetadataNames names = open_names(test::sample_metadata());
  EXPECT_EQ(names.type_name(0x02000003), "Shop.Orders`1+Line");
  EXPECT_EQ(names.type_name(0x01000001), "System.Diagnostics.DebuggableAttribute");
  EXPECT_EQ(names.type_name(0x01000003), "System.Range+Part");
  EXPECT_EQ(names.type_name(0x1B000001), "") << "a TypeSpec has no name";
  EXPECT_EQ(names.type_name(0x02000009), "");
}

TEST_F(MetadataNamesTest, TheRest) {
  const MetadataNames names = open_names(test::sample_metadata());
  EXPECT_EQ(names.field_name(0x04000002), "_count");
  EXPECT_EQ(names.field_name(0x04000003), "");
  EXPECT_EQ(names.field_name(0x06000001), "");
  EXPECT_EQ(names.generic_parameter_name(0x2A000002), "U");
  EXPECT_EQ(names.import_of(0x06000004), "kernel32.dll!WaitForSingleObject");
  EXPECT_EQ(names.import_of(0x06000003), "");
  EXPECT_TRUE(names.is_com_type(0x02000005));
  EXPECT_FALSE(names.is_com_type(0x02000004));
  EXPECT_FALSE(names.is_com_type(0x01000001));
  ASSERT_TRUE(names.mvid());
  EXPECT_EQ((*names.mvid())[15], std::byte{9});
  EXPECT_EQ(names.assembly_name(), "Shop");
  EXPECT_EQ(names.assembly_attribute("System.Diagnostics.DebuggableAttribute"), ByteWriter().u8(7).bytes());
  EXPECT_TRUE(names.assembly_attribute("System.Diagnostics.Debuggable").empty());
}

// Metadata that a program made while it ran: the rows of MethodPtr say in which order the methods belong to the types.
TEST_F(MetadataNamesTest, MethodsThroughPointers) {
  MetadataBuilder builder = test::sample_metadata();
  builder.tables_name = "#-";
  for (const int method : {2, 3, 1, 4, 5}) builder.row(0x05, ByteWriter().u16(method));
  const MetadataNames names = open_names(builder);
  EXPECT_EQ(declared(names, 0x06000001), "Shop.Orders`1+Line::.ctor()");
  EXPECT_EQ(declared(names, 0x06000003), "Shop.Orders`1::Send(!0)");
}

TEST_F(MetadataNamesTest, NestingThatIsCircularEnds) {
  MetadataBuilder builder;
  builder.row(0x02, ByteWriter().u32(0).u16(builder.text("A")).u16(0).u16(0).u16(1).u16(1));
  builder.row(0x29, ByteWriter().u16(1).u16(1));
  EXPECT_LT(open_names(builder).type_name(0x02000001).size(), 100u);
}

TEST_F(MetadataNamesTest, LongNamesAreCutAsTheRuntimeCutsThem) {
  MetadataBuilder builder;
  const auto type = [&](const std::string& name, std::uint32_t space) {
    builder.row(0x02, ByteWriter().u32(0).u16(builder.text(name)).u16(space).u16(0).u16(1).u16(1));
  };
  type(std::string(1023, 'a'), 0);
  type(std::string(1020, 'a'), builder.text("Ns"));
  type(std::string(1022, 'a') + "\xF0\x9F\x98\x80", 0);
  type(std::string(5000, 'a'), 0);
  const MetadataNames names = open_names(builder);
  EXPECT_EQ(names.type_name(0x02000001), std::string(1023, 'a'));
  EXPECT_EQ(names.type_name(0x02000002), "Ns." + std::string(1020, 'a'));
  EXPECT_EQ(names.type_name(0x02000003), std::string(1022, 'a') + "…");
  EXPECT_EQ(names.type_name(0x02000004), std::string(1023, 'a') + "…");
}

}  // namespace
}  // namespace mixwalk
