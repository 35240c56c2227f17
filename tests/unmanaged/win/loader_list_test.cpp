#include "unmanaged/win/loader_list.h"

#include <gtest/gtest.h>
#include <windows.h>
#include <winternl.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "unmanaged/win/plain_memory.h"

namespace mixwalk {
namespace {

const ListedImage* find(const std::vector<ListedImage>& images, const wchar_t* name) {
  const auto base = reinterpret_cast<std::uint64_t>(GetModuleHandleW(name));
  const auto found = std::ranges::find(images, base, &ListedImage::base);
  return found == images.end() ? nullptr : &*found;
}

TEST(LoaderList, ThisProgramAndTheSystemAreThere) {
  const std::vector<ListedImage> images = read_loader_list();
  const ListedImage* own = find(images, nullptr);
  const ListedImage* ntdll = find(images, L"ntdll.dll");
  ASSERT_TRUE(own != nullptr && ntdll != nullptr);
  EXPECT_TRUE(own->path.ends_with("loader_list_test.exe")) << own->path;
  EXPECT_TRUE(ntdll->path.ends_with("ntdll.dll")) << ntdll->path;
  EXPECT_EQ(ntdll->path.find(":\\"), 1u) << ntdll->path;
  EXPECT_EQ(own, images.data());
}

TEST(LoaderList, WhatIsLoadedComesAndWhatIsFreedGoes) {
  const HMODULE version = LoadLibraryW(L"version.dll");
  EXPECT_NE(find(read_loader_list(), L"version.dll"), nullptr);
  const auto base = reinterpret_cast<std::uint64_t>(version);
  FreeLibrary(version);
  const std::vector<ListedImage> images = read_loader_list();
  EXPECT_EQ(std::ranges::find(images, base, &ListedImage::base), images.end());
}

TEST(LoaderList, WhileImagesComeAndGo) {
  std::atomic<bool> stop = false;
  std::thread churn([&stop] {
    while (!stop) FreeLibrary(LoadLibraryW(L"version.dll"));
  });
  int readings = 0, without = 0;
  for (const ULONGLONG end = GetTickCount64() + 1'000; GetTickCount64() < end; ++readings) {
    const std::vector<ListedImage> images = read_loader_list();
    if (find(images, nullptr) == nullptr || find(images, L"ntdll.dll") == nullptr) ++without;
  }
  stop = true;
  churn.join();
  EXPECT_EQ(without, 0) << "of " << readings;
}

// A list of three images, in the loader's form.
class ListOfThree : public testing::Test {
 protected:
  ListOfThree() {
    for (int i = 0; i < 3; ++i) {
      entries_[i].DllBase = reinterpret_cast<void*>((i + 1) * std::uintptr_t{0x10000});
      entries_[i].FullDllName = {sizeof name_ - 2, sizeof name_, name_};
      link(i).Flink = i < 2 ? &link(i + 1) : &head_;
      link(i).Blink = i > 0 ? &link(i - 1) : &head_;
    }
    head_ = {&link(0), &link(2)};
  }
  LIST_ENTRY& link(int i) { return entries_[i].InMemoryOrderLinks; }
  ListReading read() { return read_image_list(PlainMemory(), reinterpret_cast<std::uint64_t>(&head_)); }

  LIST_ENTRY head_{};
  LDR_DATA_TABLE_ENTRY entries_[3]{};
  wchar_t name_[9] = L"C:\\a.dll";
};

TEST_F(ListOfThree, Whole) {
  const ListReading reading = read();
  EXPECT_TRUE(reading.whole);
  ASSERT_EQ(reading.images.size(), 3u);
  EXPECT_EQ(reading.images[2].base, 0x30000u);
  EXPECT_EQ(reading.images[2].path, "C:\\a.dll");
}

// The entry was freed, and the heap has linked its memory into a list of its own.
TEST_F(ListOfThree, AnEntryThatHasGone) {
  LIST_ENTRY of_the_heap{&of_the_heap, &of_the_heap};
  link(1) = {&of_the_heap, &of_the_heap};
  EXPECT_FALSE(read().whole);
  EXPECT_EQ(read().images.size(), 1u);
}

TEST_F(ListOfThree, AnEntryThatCannotBeRead) {
  link(1).Flink = nullptr;
  EXPECT_FALSE(read().whole);
  EXPECT_EQ(read().images.size(), 2u);
}

TEST_F(ListOfThree, APathThatCannotBeRead) {
  entries_[2].FullDllName.Buffer = reinterpret_cast<wchar_t*>(16);
  EXPECT_FALSE(read().whole);
  EXPECT_EQ(read().images.size(), 2u);
}

// A process whose loader's list has three images.
class ListOfAProcess : public ListOfThree {
 protected:
  ListOfAProcess() {
    loader_.InMemoryOrderModuleList = head_;
    link(0).Blink = link(2).Flink = &loader_.InMemoryOrderModuleList;
    peb_.Ldr = &loader_;
  }
  std::vector<ListedImage> read_all(const std::function<void()>& again) {
    return read_loader_list(PlainMemory(), reinterpret_cast<std::uint64_t>(&peb_), again);
  }

  PEB_LDR_DATA loader_{};
  PEB peb_{};
};

TEST_F(ListOfAProcess, ThatChangesWhileItIsReadIsReadOnceMore) {
  int again = 0;
  EXPECT_EQ(read_all([&] { ++again; }).size(), 3u);
  EXPECT_EQ(again, 0);
  link(1).Blink = &link(2);
  EXPECT_EQ(read_all([&] {
              if (++again == 2) link(1).Blink = &link(0);
            }).size(),
            3u);
  EXPECT_EQ(again, 2);
}

// A program can make a list that is consistent and longer than any real one.
TEST_F(ListOfAProcess, ThatIsLongerThanAnyIsReadOnce) {
  std::vector<LDR_DATA_TABLE_ENTRY> many(70'000);
  LIST_ENTRY* last = &link(2);
  for (LDR_DATA_TABLE_ENTRY& entry : many) {
    entry.InMemoryOrderLinks.Blink = last;
    last = last->Flink = &entry.InMemoryOrderLinks;
  }
  last->Flink = &loader_.InMemoryOrderModuleList;
  int again = 0;
  EXPECT_LT(read_all([&] { ++again; }).size(), many.size());
  EXPECT_EQ(again, 0);
}

}  // namespace
}  // namespace mixwalk
