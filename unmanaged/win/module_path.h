#pragma once

#include <windows.h>

#include <string>

namespace mixwalk {

// Returns the whole path of a module of this process, UTF-16; for null, the path of the program. Not frozen-safe,
// because the loader is asked. The result is empty if there is no such module.
std::wstring module_path(HMODULE module);
// Returns the folder of the module, with the last separator.
std::wstring module_folder(HMODULE module);

}  // namespace mixwalk
