#include "unmanaged/win/live_modules.h"

#include <gtest/gtest.h>
#include <windows.h>

#include <atomic>
#include <thread>

#include "tests/support/win/child_process.h"
#include "unmanaged/win/utf8.h"

namespace mixwalk {
namespace {

std::uint64_t address_of(HMODULE module) { return reinterpret_cast<std::uint64_t>(module); }

// Maps an image as it would be loaded, but none of its code is run.
HMODULE load(const std::string& name) {
  return LoadLibraryExW(to_utf16(name).c_str(), nullptr, DONT_RESOLVE_DLL_REFERENCES);
}

TEST(LiveModules, ThisProgramAndTheSystemAreThere) {
  const ModuleTable table = read_live_modules();
  const ModuleView view = table.view();
  for (const char* name : {"live_modules_test.exe", "ntdll.dll", "kernel32.dll"}) {
    const ModuleSpan* span = view.find(address_of(GetModuleHandleA(name)));
    ASSERT_NE(span, nullptr) << name;
    EXPECT_NE(span->pdata_rva, 0u) << name;
    EXPECT_GT(span->pdata_count, 10u) << name;
    EXPECT_FALSE(span->has_managed_code) << name;
    EXPECT_FALSE(span->closed) << name;
    const ModuleDetails& details = table.details()[span - view.modules().data()];
    EXPECT_TRUE(details.path.ends_with(name)) << details.path;
  }
}

TEST(LiveModules, ReadyToRunImagesHaveManagedCode) {
  const HMODULE corelib = load(fixture("System.Private.CoreLib.dll"));
  ASSERT_NE(corelib, nullptr);
  const ModuleTable table = read_live_modules();
  const ModuleSpan* span = table.view().find(address_of(corelib));
  ASSERT_NE(span, nullptr);
  EXPECT_TRUE(span->has_managed_code);
  EXPECT_GT(span->pdata_count, 10'000u);
  EXPECT_FALSE(span->closed);
  FreeLibrary(corelib);
}

// The image is not an assembly, but contains the code of several.
TEST(LiveModules, CompositeReadyToRunImagesHaveManagedCode) {
  const HMODULE image = load(fixture("runtime_exports.dll"));
  ASSERT_NE(image, nullptr);
  const ModuleTable table = read_live_modules();
  const ModuleSpan* span = table.view().find(address_of(image));
  ASSERT_NE(span, nullptr);
  EXPECT_TRUE(span->has_managed_code);
  FreeLibrary(image);
}

// The program was published as a single file, so it contains the runtime. Its name does not matter.
TEST(LiveModules, AnImageWithTheRuntimeInItMayHoldItsLocks) {
  const HMODULE image = load(fixture("runtime_exports.dll"));
  ASSERT_NE(image, nullptr);
  const ModuleTable table = read_live_modules();
  EXPECT_EQ(table.view().find(address_of(image))->lock_risk, LockRisk::any);
  const ModuleSpan* own = table.view().find(address_of(GetModuleHandleA(nullptr)));
  EXPECT_EQ(own->lock_risk, LockRisk::none);
  FreeLibrary(image);
}

TEST(LiveModules, AnUnloadedImageIsLeftOut) {
  const HMODULE sqlite = load(fixture("e_sqlite3.dll"));
  ASSERT_NE(sqlite, nullptr);
  EXPECT_NE(read_live_modules().view().find(address_of(sqlite)), nullptr);
  FreeLibrary(sqlite);
  EXPECT_EQ(read_live_modules().view().find(address_of(sqlite)), nullptr);
}

// Gives one page of an image another protection as long as this object lives.
class Protected {
 public:
  Protected(std::uint64_t address, DWORD protection) : page_(reinterpret_cast<void*>(address)) {
    VirtualProtect(page_, 1, protection, &before_);
  }
  ~Protected() { VirtualProtect(page_, 1, before_, &before_); }
  Protected(const Protected&) = delete;
  Protected& operator=(const Protected&) = delete;

  DWORD now() const {
    MEMORY_BASIC_INFORMATION region{};
    VirtualQuery(page_, &region, sizeof region);
    return region.Protect;
  }

 private:
  void* page_;
  DWORD before_ = 0;
};

TEST(LiveModules, AnImageWithClosedHeadersIsListedAndNotRead) {
  const HMODULE sqlite = load(fixture("e_sqlite3.dll"));
  ASSERT_NE(sqlite, nullptr);
  const ModuleTable before = read_live_modules();
  const ModuleSpan* const open = before.view().find(address_of(sqlite));
  ASSERT_NE(open, nullptr);
  EXPECT_FALSE(open->closed);
  const auto identity = live_identity(address_of(sqlite));
  ASSERT_TRUE(identity);
  for (const DWORD protection : {DWORD{PAGE_READONLY | PAGE_GUARD}, DWORD{PAGE_NOACCESS}}) {
    const Protected headers(address_of(sqlite), protection);
    const ModuleTable table = read_live_modules();
    const ModuleSpan* const span = table.view().find(address_of(sqlite));
    ASSERT_NE(span, nullptr);
    EXPECT_TRUE(span->closed);
    EXPECT_EQ(span->size, open->size);
    EXPECT_EQ(span->pdata_count, 0u);
    const ModuleDetails& details = table.details()[span - table.view().modules().data()];
    EXPECT_TRUE(details.path.ends_with("e_sqlite3.dll")) << details.path;
    EXPECT_FALSE(live_identity(address_of(sqlite)));
    EXPECT_EQ(headers.now(), protection) << "somebody touched it";
  }
  EXPECT_EQ(live_identity(address_of(sqlite)), identity);
  FreeLibrary(sqlite);
}

TEST(LiveModules, AnImageWithAGuardOnItsUnwindDataIsNotRead) {
  const HMODULE sqlite = load(fixture("e_sqlite3.dll"));
  ASSERT_NE(sqlite, nullptr);
  const ModuleTable before = read_live_modules();
  const ModuleSpan* const open = before.view().find(address_of(sqlite));
  ASSERT_NE(open, nullptr);
  {
    const Protected pdata(address_of(sqlite) + open->pdata_rva, PAGE_READONLY | PAGE_GUARD);
    const ModuleTable table = read_live_modules();
    const ModuleSpan* const span = table.view().find(address_of(sqlite));
    ASSERT_NE(span, nullptr);
    EXPECT_TRUE(span->closed);
    EXPECT_EQ(table.details()[span - table.view().modules().data()].timestamp,
              before.details()[open - before.view().modules().data()].timestamp);
    EXPECT_EQ(pdata.now(), DWORD{PAGE_READONLY | PAGE_GUARD}) << "somebody touched it";
  }
  EXPECT_FALSE(read_live_modules().view().find(address_of(sqlite))->closed);
  FreeLibrary(sqlite);
}

// A big image takes long to load; a small one changes the list more often.
TEST(LiveModules, WhileImagesComeAndGo) {
  for (const std::string& image : {fixture("e_sqlite3.dll"), std::string("version.dll")}) {
    std::atomic<bool> stop = false;
    std::thread loader([&] {
      while (!stop) FreeLibrary(load(image));
    });
    const auto self = address_of(GetModuleHandleW(nullptr));
    const auto ntdll = address_of(GetModuleHandleW(L"ntdll.dll"));
    for (int i = 0; i < 1'000; ++i) {
      const ModuleTable table = read_live_modules();
      EXPECT_NE(table.view().find(self), nullptr) << "reading " << i;
      EXPECT_NE(table.view().find(ntdll), nullptr) << "reading " << i;
    }
    stop = true;
    loader.join();
  }
}

}  // namespace
}  // namespace mixwalk
