#include "walker/session/win/loaded_runtime.h"

#include <gtest/gtest.h>
#include <windows.h>
#include <winternl.h>

#include <string>
#include <vector>

#include "unmanaged/win/plain_memory.h"

namespace mixwalk {
namespace {

// A process with these images, in the form of the loader's list.
class FakeProcess {
 public:
  explicit FakeProcess(std::vector<std::wstring> paths) : paths_(std::move(paths)), entries_(paths_.size()) {
    LIST_ENTRY* last = &loader_.InMemoryOrderModuleList;
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      const auto bytes = static_cast<USHORT>(paths_[i].size() * sizeof(wchar_t));
      entries_[i].FullDllName = {bytes, bytes, paths_[i].data()};
      entries_[i].DllBase = reinterpret_cast<void*>((i + 1) << 16);
      entries_[i].InMemoryOrderLinks.Blink = last;
      last = last->Flink = &entries_[i].InMemoryOrderLinks;
    }
    last->Flink = &loader_.InMemoryOrderModuleList;
    loader_.InMemoryOrderModuleList.Blink = last;
    peb_.Ldr = &loader_;
  }
  LoadedRuntime runtime() const { return loaded_runtime(PlainMemory(), reinterpret_cast<std::uint64_t>(&peb_), {}); }

 private:
  std::vector<std::wstring> paths_;
  std::vector<LDR_DATA_TABLE_ENTRY> entries_;
  PEB_LDR_DATA loader_{};
  PEB peb_{};
};

TEST(LoadedRuntimeOf, EachKindOfProcess) {
  EXPECT_EQ(FakeProcess({L"C:\\a.exe", L"C:\\windows\\ntdll.dll"}).runtime(), LoadedRuntime::none);
  EXPECT_EQ(FakeProcess({L"C:\\a.exe", L"C:\\dotnet\\HostFxr.dll"}).runtime(), LoadedRuntime::host_only);
  EXPECT_EQ(FakeProcess({L"C:\\a.exe", L"C:\\windows\\clr.dll"}).runtime(), LoadedRuntime::framework);
  EXPECT_EQ(FakeProcess({L"C:\\a.exe", L"hostpolicy.dll", L"C:\\dotnet\\CoreCLR.dll"}).runtime(), LoadedRuntime::core);
  EXPECT_EQ(FakeProcess({}).runtime(), LoadedRuntime::unknown);
}

TEST(LoadedRuntimeOf, AProgramThatLoadsThousandsOfImagesFirst) {
  std::vector<std::wstring> paths(5000, L"C:\\program\\extension.dll");
  paths.push_back(L"C:\\dotnet\\coreclr.dll");
  EXPECT_EQ(FakeProcess(paths).runtime(), LoadedRuntime::core);
}

TEST(LoadedRuntimeOf, ARealProcess) {
  EXPECT_EQ(loaded_runtime(GetCurrentProcessId()), LoadedRuntime::none);
  EXPECT_EQ(loaded_runtime(std::uint32_t{0}), LoadedRuntime::unknown);
}

}  // namespace
}  // namespace mixwalk
