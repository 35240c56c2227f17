#pragma once

#include <windows.h>

namespace mixwalk {

// A DLL of the system that few runs of mixwalk need. It is loaded when an object of this class is made, because a
// program pays for each import at its start: wintrust.dll and winhttp.dll bring user32.dll and 20 others with them,
// which is half of the start's work. The DLL is never unloaded. Not frozen-safe, because the loader is asked.
class SystemLibrary {
 public:
  explicit SystemLibrary(const wchar_t* name) noexcept
      : library_(LoadLibraryExW(name, nullptr, LOAD_LIBRARY_SEARCH_SYSTEM32)) {}

  // Sets the pointer to the function of that name. Returns false if there is none.
  template <typename Function>
  bool find(const char* name, Function& function) const noexcept {
    const auto address = library_ != nullptr ? GetProcAddress(library_, name) : nullptr;
    function = reinterpret_cast<Function>(reinterpret_cast<void*>(address));
    return function != nullptr;
  }

 private:
  HMODULE library_;
};

}  // namespace mixwalk
