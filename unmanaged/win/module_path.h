#pragma once

#include <windows.h>

#include <string>

namespace mixwalk {

// The whole path of a module of this process, UTF-16; null: the path of the program. Not frozen-safe: the loader is
// asked. Empty where there is no such module.
std::wstring module_path(HMODULE module);
// The folder that it lies in, with the last separator.
std::wstring module_folder(HMODULE module);

}  // namespace mixwalk
