#include "walker/outside/module_headers.h"

#include <gtest/gtest.h>

#include "tests/support/code_builder.h"

namespace mixwalk {
namespace {

constexpr std::uint64_t kBase = 0x1'8000'0000;

BuiltMemory image() {
  BuiltMemory memory(kBase, 0x1000);
  memory.put(0, {'M', 'Z'});
  memory.put32(0x3C, 0x80);
  memory.put32(0x80, 0x4550);
  memory.put32(0x88, 0x6000'0001);  // TimeDateStamp
  memory.put32(0x98, 0x20B);
  memory.put32(0x80 + 24 + 56, 0x5'0000);  // SizeOfImage
  return memory;
}

TEST(ModuleHeaders, OfAnImage) {
  const auto module = read_module_headers(image(), kBase);
  ASSERT_TRUE(module);
  EXPECT_EQ(module->base, kBase);
  EXPECT_EQ(module->size, 0x5'0000u);
  EXPECT_EQ(module->timestamp, 0x6000'0001u);
}

TEST(ModuleHeaders, OfWhatIsNone) {
  EXPECT_FALSE(read_module_headers(image(), kBase + 0x1000));
  auto memory = image();
  memory.put32(0x3C, 0xFFFF'FFF0);
  EXPECT_FALSE(read_module_headers(memory, kBase));
  memory = image();
  memory.put32(0x98, 0x10B);  // 32-bit
  EXPECT_FALSE(read_module_headers(memory, kBase));
  memory = image();
  memory.put32(0x80 + 24 + 56, 0);
  EXPECT_FALSE(read_module_headers(memory, kBase));
}

TEST(ModuleHeaders, ModulesThatOverlap) {
  std::vector<Module> modules{{.base = 0x3000, .size = 0x1000}, {.base = 0x1000, .size = 0x2001},
                              {.base = 0x5000, .size = 0x10}};
  sort_disjoint(modules);
  ASSERT_EQ(modules.size(), 2u);
  EXPECT_EQ(modules[0].base, 0x1000u);
  EXPECT_EQ(modules[1].base, 0x5000u);
}

}  // namespace
}  // namespace mixwalk
