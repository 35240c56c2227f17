#include "unmanaged/win/live_modules.h"

#include <gtest/gtest.h>
#include <windows.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <span>
#include <thread>
#include <vector>

#include "tests/support/win/child_process.h"
#include "unmanaged/step/stack_copy.h"
#include "unmanaged/win/guarded.h"
#include "unmanaged/win/rtl_unwind_step.h"
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

// The RVA of the page that has the image's export directory.
std::uint32_t export_page(HMODULE image) {
  const auto base = address_of(image);
  const auto& dos = *reinterpret_cast<const IMAGE_DOS_HEADER*>(base);
  const auto& nt = *reinterpret_cast<const IMAGE_NT_HEADERS64*>(base + static_cast<std::uint32_t>(dos.e_lfanew));
  return nt.OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_EXPORT].VirtualAddress / 0x1000 * 0x1000;
}

// As Exploit Protection's Export Address Filtering does.
TEST(LiveModules, AGuardOnTheExportsShutsTheirPageOnly) {
  const HMODULE sqlite = load(fixture("e_sqlite3.dll"));
  ASSERT_NE(sqlite, nullptr);
  const ModuleTable before = read_live_modules();
  const ModuleSpan* const open = before.view().find(address_of(sqlite));
  ASSERT_NE(open, nullptr);
  const std::uint32_t page = export_page(sqlite);
  ASSERT_NE(page, 0u);
  {
    const Protected exports(address_of(sqlite) + page, PAGE_READONLY | PAGE_GUARD);
    const ModuleTable table = read_live_modules();
    const ModuleSpan* const span = table.view().find(address_of(sqlite));
    ASSERT_NE(span, nullptr);
    EXPECT_FALSE(span->closed);
    EXPECT_EQ(span->pdata_count, open->pdata_count);
    EXPECT_EQ(span->shut[0], (CodeRange{page, page + 0x1000}));
    EXPECT_EQ(span->shut[1], CodeRange());
    EXPECT_FALSE(span->may_read(address_of(sqlite) + page - 1, 2));
    EXPECT_TRUE(span->may_read(address_of(sqlite) + page - 1, 1));
    EXPECT_TRUE(span->may_read(address_of(sqlite) + page + 0x1000, 8));
    EXPECT_EQ(exports.now(), DWORD{PAGE_READONLY | PAGE_GUARD}) << "somebody touched it";
  }
  EXPECT_EQ(read_live_modules().view().find(address_of(sqlite))->shut[0], CodeRange());
  FreeLibrary(sqlite);
}

TEST(LiveModules, AGuardOnCodeClosesTheImage) {
  const HMODULE sqlite = load(fixture("e_sqlite3.dll"));
  ASSERT_NE(sqlite, nullptr);
  {
    const ModuleTable before = read_live_modules();
    const std::uint64_t code = address_of(sqlite) + before.view().find(address_of(sqlite))->code[0].begin;
    const Protected page(code, PAGE_EXECUTE_READ | PAGE_GUARD);
    EXPECT_TRUE(read_live_modules().view().find(address_of(sqlite))->closed);
    EXPECT_EQ(page.now(), DWORD{PAGE_EXECUTE_READ | PAGE_GUARD}) << "somebody touched it";
  }
  FreeLibrary(sqlite);
}

// On Windows unwind data may share a page with the exports. Only functions whose unwind data is there have no caller.
TEST(LiveModules, UnwindDataInAShutPageIsNotRead) {
  const HMODULE sqlite = load(fixture("e_sqlite3.dll"));
  ASSERT_NE(sqlite, nullptr);
  const std::uint64_t base = address_of(sqlite);
  const ModuleTable before = read_live_modules();
  const ModuleSpan* const open = before.view().find(base);
  ASSERT_NE(open, nullptr);
  const std::span entries(reinterpret_cast<const RUNTIME_FUNCTION*>(base + open->pdata_rva), open->pdata_count);
  const RUNTIME_FUNCTION& first = entries.front();
  const std::uint32_t page = first.UnwindData / 0x1000 * 0x1000;
  const auto other = std::ranges::find_if(entries, [&](const RUNTIME_FUNCTION& entry) {
    return entry.UnwindData > page + 0x2000 && (entry.UnwindData & 1) == 0;
  });
  ASSERT_NE(other, entries.end());
  static std::vector<std::byte> buffer(1 << 20);
  const auto* tib = reinterpret_cast<const NT_TIB*>(NtCurrentTeb());
  const std::uint64_t words[0x100]{};
  const auto rsp = reinterpret_cast<std::uint64_t>(words);
  const auto fault_at = [&](const ModuleTable& table, const RUNTIME_FUNCTION& function) {
    StackCopy stack(buffer);
    stack.fill(GuardedReader(), rsp, reinterpret_cast<std::uint64_t>(tib->StackBase));
    stack.rewrite_pointers();
    Cursor frame;
    frame.registers.rip = base + function.BeginAddress;
    frame.registers[Register::rsp] = rsp;
    return RtlUnwindStep(stack, table.view()).step(frame, LeafRule::allowed).fault;
  };
  const StepFault readable = fault_at(before, first);
  EXPECT_NE(readable, StepFault::unreadable_unwind);
  {
    const Protected data(base + page, PAGE_READONLY | PAGE_GUARD);
    const ModuleTable table = read_live_modules();
    ASSERT_FALSE(table.view().find(base)->closed);
    EXPECT_EQ(fault_at(table, first), StepFault::unreadable_unwind);
    EXPECT_NE(fault_at(table, *other), StepFault::unreadable_unwind);
    EXPECT_EQ(data.now(), DWORD{PAGE_READONLY | PAGE_GUARD}) << "somebody touched it";
  }
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
