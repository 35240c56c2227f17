#include "tests/support/repository_files.h"

#include <windows.h>

#include "unmanaged/win/module_path.h"
#include "unmanaged/win/utf8.h"

namespace mixwalk {
namespace {

// The folder of the sources in the bundle; a build folder has no such folder.
std::wstring source_folder() { return module_folder(nullptr) + L"..\\source"; }

}  // namespace

std::string repository_file(const std::string& path) {
  return (in_bundle() ? to_utf8(source_folder()) : MIXWALK_REPOSITORY) + "/" + path;
}

bool in_bundle() {
  static const bool bundled = GetFileAttributesW(source_folder().c_str()) != INVALID_FILE_ATTRIBUTES;
  return bundled;
}

}  // namespace mixwalk
