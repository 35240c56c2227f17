#include "unmanaged/win/live_modules.h"

#include <gtest/gtest.h>
#include <windows.h>

#include <atomic>
#include <thread>

#include "tests/support/win/child_process.h"
#include "unmanaged/win/guarded.h"
#include "unmanaged/win/utf8.h"

namespace mixwalk {
namespace {

std::uint64_t address_of(HMODULE module) { return reinterpret_cast<std::uint64_t>(module); }

// An image as it would be loaded, but none of its code is run.
HMODULE load(const std::string& name) {
  return LoadLibraryExW(to_utf16(name).c_str(), nullptr, DONT_RESOLVE_DLL_REFERENCES);
}

class LiveModulesTest : public testing::Test {
 protected:
  const FaultGuard guard_;
};

TEST_F(LiveModulesTest, ThisProgramAndTheSystemAreThere) {
  const ModuleTable table = read_live_modules();
  const ModuleView view = table.view();
  for (const char* name : {"live_modules_test.exe", "ntdll.dll", "kernel32.dll"}) {
    const ModuleSpan* span = view.find(address_of(GetModuleHandleA(name)));
    ASSERT_NE(span, nullptr) << name;
    EXPECT_NE(span->pdata_rva, 0u) << name;
    EXPECT_GT(span->pdata_count, 10u) << name;
    EXPECT_FALSE(span->has_managed_code) << name;
    const ModuleDetails& details = table.details()[span - view.modules().data()];
    EXPECT_TRUE(details.path.ends_with(name)) << details.path;
  }
}

TEST_F(LiveModulesTest, ReadyToRunImagesHaveManagedCode) {
  const HMODULE corelib = load(fixture("System.Private.CoreLib.dll"));
  ASSERT_NE(corelib, nullptr);
  const ModuleTable table = read_live_modules();
  const ModuleSpan* span = table.view().find(address_of(corelib));
  ASSERT_NE(span, nullptr);
  EXPECT_TRUE(span->has_managed_code);
  EXPECT_GT(span->pdata_count, 10'000u);
  FreeLibrary(corelib);
}

TEST_F(LiveModulesTest, AnUnloadedImageIsLeftOut) {
  const HMODULE sqlite = load(fixture("e_sqlite3.dll"));
  ASSERT_NE(sqlite, nullptr);
  EXPECT_NE(read_live_modules().view().find(address_of(sqlite)), nullptr);
  FreeLibrary(sqlite);
  EXPECT_EQ(read_live_modules().view().find(address_of(sqlite)), nullptr);
}

TEST_F(LiveModulesTest, WhileImagesComeAndGo) {
  std::atomic<bool> stop = false;
  const std::string sqlite = fixture("e_sqlite3.dll");
  std::thread loader([&] {
    while (!stop) FreeLibrary(load(sqlite));
  });
  const auto self = address_of(GetModuleHandleW(nullptr));
  for (int i = 0; i < 600; ++i) {
    ASSERT_NE(read_live_modules().view().find(self), nullptr) << "reading " << i;
  }
  stop = true;
  loader.join();
}

}  // namespace
}  // namespace mixwalk
