#pragma once

#include <windows.h>

#include <string>
#include <string_view>

#include "unmanaged/win/utf8.h"

namespace mixwalk {

// Chooses modules by their file names: "orders" and "Orders.dll" both mean orders.dll. Upper and lower case are equal,
// as in file names on Windows. matches() takes no lock and allocates nothing, so it may be called while the loader
// waits.
class ModuleNameFilter {
 public:
  ModuleNameFilter() = default;  // every module is wanted
  // UTF-8; an empty text means that every module is wanted. May throw std::bad_alloc.
  explicit ModuleNameFilter(std::string_view wanted) : wanted_(without_ending(to_utf16(wanted))) {}

  // `file_name`: without its folder.
  bool matches(std::wstring_view file_name) const noexcept {
    return wanted_.empty() || same(without_ending(file_name), wanted_);
  }

 private:
  static bool same(std::wstring_view left, std::wstring_view right) noexcept {
    return CompareStringOrdinal(left.data(), static_cast<int>(left.size()), right.data(),
                                static_cast<int>(right.size()), TRUE) == CSTR_EQUAL;
  }
  static std::wstring_view without_ending(std::wstring_view name) noexcept {
    constexpr std::wstring_view kEnding = L".dll";
    if (name.size() <= kEnding.size()) return name;
    const std::wstring_view rest = name.substr(0, name.size() - kEnding.size());
    return same(name.substr(rest.size()), kEnding) ? rest : name;
  }

  std::wstring wanted_;  // without ".dll"
};

}  // namespace mixwalk
