#include "walker/target/dac_identity.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string_view>

#include "tests/builders/code_builder.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kBase = 0x1'8000'0000;
constexpr std::uint32_t kHeaders = 0x80, kResources = 0x400, kDebugInfo = 0xA00, kVersionInfo = 0xB00;

// An image with the resources RT_RCDATA/name and RT_VERSION/1, each in one language.
class RuntimeImage {
 public:
  RuntimeImage() {
    memory_.put32(0x3C, kHeaders);
    memory_.put32(kHeaders, 0x4550);
    memory_.put32(kHeaders + 24, 0x20B);
    memory_.put32(kHeaders + 24 + 112 + 16, kResources);
    // The table of types.
    table(0, 0, 2);
    entry(0, 0, 10, 0x8000'0100);
    entry(0, 1, 16, 0x8000'0200);
    // The tables of names.
    table(0x100, 1, 0);
    entry(0x100, 0, 0x8000'0300, 0x8000'0140);
    table(0x200, 0, 1);
    entry(0x200, 0, 1, 0x8000'0240);
    // The tables of languages.
    table(0x140, 0, 1);
    entry(0x140, 0, 1033, 0x180);
    table(0x240, 0, 1);
    entry(0x240, 0, 1033, 0x280);
    memory_.put32(kResources + 0x180, kDebugInfo);
    memory_.put32(kResources + 0x184, 36);
    memory_.put32(kResources + 0x280, kVersionInfo);
    memory_.put32(kResources + 0x284, 0x300);
    name("CLRDEBUGINFO");
    memory_.put32(kDebugInfo + 20, 0x6900'1234);
    memory_.put32(kDebugInfo + 24, 0x14'F000);
    memory_.put32(kVersionInfo + 0x28, 0xFEEF'04BD);
    memory_.put32(kVersionInfo + 0x28 + 8, 10 << 16 | 0);
    memory_.put32(kVersionInfo + 0x28 + 12, 1226 << 16 | 42308);
  }
  void name(std::string_view text) {
    memory_.put(kResources + 0x300, {static_cast<int>(text.size()), 0});
    for (std::uint32_t i = 0; i < text.size(); ++i) memory_.put(kResources + 0x302 + 2 * i, {text[i], 0});
  }
  std::optional<RuntimeIdentity> read() const { return read_runtime_identity(memory_, kBase); }

  BuiltMemory memory_{kBase, 0x1000};

 private:
  void table(std::uint32_t at, int named, int numbered) {
    memory_.put(kResources + at + 12, {named, 0, numbered, 0});
  }
  void entry(std::uint32_t table, std::uint32_t place, std::uint32_t key, std::uint32_t offset) {
    memory_.put32(kResources + table + 16 + 8 * place, key);
    memory_.put32(kResources + table + 20 + 8 * place, offset);
  }
};

TEST(DacIdentity, OfTheResource) {
  RuntimeImage image;
  for (const char* name : {"CLRDEBUGINFO", "CLRDEBUGINFOWINDOWSAMD64"}) {
    image.name(name);
    const auto identity = image.read();
    ASSERT_TRUE(identity) << name;
    EXPECT_EQ(identity->dac, (DacStamp{0x6900'1234, 0x14'F000}));
    EXPECT_EQ(to_string(identity->version), "10.0.1226.42308");
    EXPECT_EQ(store_key(identity->dac), "6900123414f000");
  }
  image.name("SOMETHINGELSE");
  EXPECT_FALSE(image.read());
}

TEST(DacIdentity, ResourceOfAnotherVersionOrLength) {
  RuntimeImage image;
  image.memory_.put32(kDebugInfo, 1);
  EXPECT_FALSE(image.read());
  RuntimeImage longer;
  longer.memory_.put32(kResources + 0x184, 37);
  EXPECT_FALSE(longer.read());
}

TEST(DacIdentity, ProgramInOneFile) {
  BuiltMemory memory(kBase, 0x1000);
  memory.put32(0x3C, kHeaders);
  memory.put32(kHeaders, 0x4550);
  memory.put32(kHeaders + 24, 0x20B);
  memory.put32(kHeaders + 24 + 112, 0x300);  // exports
  memory.put32(0x300 + 24, 1);
  memory.put32(0x300 + 28, 0x400);
  memory.put32(0x300 + 32, 0x410);
  memory.put32(0x300 + 36, 0x420);
  memory.put32(0x400, 0x800);
  memory.put32(0x410, 0x500);
  const char name[] = "DotNetRuntimeInfo";
  for (std::uint32_t i = 0; i < sizeof name; ++i) {
    memory.put(0x500 + i, {name[i]});
    memory.put(0x800 + i, {name[i]});
  }
  memory.put(0x800 + 48, {8, 0x34, 0x12, 0x00, 0x69, 0x00, 0xF0, 0x14, 0x00});
  const auto identity = read_runtime_identity(memory, kBase);
  ASSERT_TRUE(identity);
  EXPECT_EQ(identity->dac, (DacStamp{0x6900'1234, 0x14'F000}));
  EXPECT_EQ(identity->version, FileVersion{});
  // These fields exist from version 2 of the structure on.
  memory.put32(0x800 + 96, 10), memory.put32(0x800 + 104, 1225), memory.put32(0x800 + 108, 42308);
  EXPECT_EQ(read_runtime_identity(memory, kBase)->version, FileVersion{});
  memory.put32(0x800 + 20, 2);
  EXPECT_EQ(read_runtime_identity(memory, kBase)->version, (FileVersion{10, 0, 1225, 42308}));
  memory.put(0x800 + 48, {3});  // an index of another kind
  EXPECT_FALSE(read_runtime_identity(memory, kBase));
}

TEST(DacIdentity, TablesThatLeadToThemselvesOrNowhere) {
  RuntimeImage image;
  image.memory_.put32(kResources + 0x100 + 20, 0x8000'0000);  // the names lead back to the types
  EXPECT_FALSE(image.read());
  RuntimeImage counts;
  counts.memory_.put(kResources + 12, {0xFF, 0xFF, 0xFF, 0xFF});
  counts.read();
  RuntimeImage beyond;
  beyond.memory_.put32(kHeaders + 24 + 112 + 16, 0xFFFF'FFF0);
  EXPECT_FALSE(beyond.read());
  EXPECT_FALSE(read_runtime_identity(beyond.memory_, kBase + 0x2000));
}

}  // namespace
}  // namespace mixwalk
