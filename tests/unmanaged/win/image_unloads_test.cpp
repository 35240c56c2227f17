#include "unmanaged/win/image_unloads.h"

#include <gtest/gtest.h>

#include "tests/support/win/child_process.h"
#include "unmanaged/win/live_modules.h"
#include "unmanaged/win/utf8.h"

namespace mixwalk {
namespace {

std::uint64_t load_and_free(const char* name) {
  const HMODULE image = LoadLibraryW(to_utf16(fixture(name)).c_str());
  EXPECT_NE(image, nullptr);
  FreeLibrary(image);
  return reinterpret_cast<std::uint64_t>(image);
}

TEST(ImageUnloads, OnlyTheBaseThatWentAndOnlySinceThen) {
  const ImageUnloads unloads;
  const std::uint64_t before = unloads.mark();
  const std::uint64_t base = load_and_free("hunt_turn_a.dll");
  EXPECT_TRUE(unloads.unloaded_since(base, before));
  EXPECT_FALSE(unloads.unloaded_since(base + 0x10000, before));
  EXPECT_FALSE(unloads.unloaded_since(base, unloads.mark()));
}

// Two DLLs were made for one base, so the headers of the loaded image look unchanged.
TEST(ImageUnloads, AnImageThatWasExchangedAndIsBack) {
  const ImageUnloads unloads;
  const HMODULE first = LoadLibraryW(to_utf16(fixture("hunt_turn_a.dll")).c_str());
  const auto base = reinterpret_cast<std::uint64_t>(first);
  const auto identity = live_identity(base);
  const std::uint64_t mark = unloads.mark();
  FreeLibrary(first);
  EXPECT_EQ(load_and_free("hunt_turn_b.dll"), base);
  const HMODULE back = LoadLibraryW(to_utf16(fixture("hunt_turn_a.dll")).c_str());
  EXPECT_EQ(back, first);
  EXPECT_EQ(live_identity(base), identity);
  EXPECT_TRUE(unloads.unloaded_since(base, mark));
  FreeLibrary(back);
}

TEST(ImageUnloads, TooManyToRememberMayHaveBeenAny) {
  const ImageUnloads unloads;
  const std::uint64_t mark = unloads.mark();
  for (int i = 0; i < 255; ++i) load_and_free("hunt_turn_a.dll");
  EXPECT_FALSE(unloads.unloaded_since(0x10000, mark));
  load_and_free("hunt_turn_a.dll");
  EXPECT_TRUE(unloads.unloaded_since(0x10000, mark));
}

TEST(ImageUnloads, TheSystemTellsNobodyThatHasGone) {
  { const ImageUnloads unloads; }
  load_and_free("hunt_turn_a.dll");
}

}  // namespace
}  // namespace mixwalk
