#pragma once

#include <windows.h>

#include <cwchar>
#include <iterator>

#include "unmanaged/win/unique_handle.h"

namespace mixwalk {

// A T in memory that a process under test and the test share. The first of them creates it, zeroed. T is plain memory;
// T::kPageName distinguishes its pages from those of other types. Allocates nothing from a heap.
template <class T>
class SharedPage {
 public:
  explicit SharedPage(DWORD process_id) {
    wchar_t name[64];
    std::swprintf(name, std::size(name), L"Local\\mixwalk-%ls-%lu", T::kPageName, process_id);
    section_ = UniqueHandle(CreateFileMappingW(INVALID_HANDLE_VALUE, nullptr, PAGE_READWRITE, 0,
                                               sizeof(T), name));
    if (!section_) return;
    shared_ = static_cast<T*>(MapViewOfFile(section_.get(), FILE_MAP_ALL_ACCESS, 0, 0, sizeof(T)));
  }
  ~SharedPage() {
    if (shared_ != nullptr) UnmapViewOfFile(shared_);
  }
  SharedPage(const SharedPage&) = delete;
  SharedPage& operator=(const SharedPage&) = delete;

  // Returns null if the memory could not be obtained.
  T* get() const noexcept { return shared_; }
  T* operator->() const noexcept { return shared_; }

 private:
  UniqueHandle section_;
  T* shared_ = nullptr;
};

}  // namespace mixwalk
