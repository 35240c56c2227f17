#include "unmanaged/win/module_path.h"

namespace mixwalk {
namespace {

constexpr DWORD kMaxPathUnits = 32'768;

}  // namespace

std::wstring module_path(HMODULE module) {
  std::wstring path(kMaxPathUnits, L'\0');
  path.resize(GetModuleFileNameW(module, path.data(), kMaxPathUnits));
  return path;
}

std::wstring module_folder(HMODULE module) {
  std::wstring path = module_path(module);
  path.resize(path.find_last_of(L'\\') + 1);
  return path;
}

}  // namespace mixwalk
