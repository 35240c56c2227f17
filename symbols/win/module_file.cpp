#include "symbols/win/module_file.h"

#include <algorithm>

namespace mixwalk {

std::wstring module_file(clr::ICorProfilerInfo3& info, clr::ModuleID module) {
  constexpr ULONG kUsualUnits = 260, kMaxUnits = 32'768;
  std::wstring path(kUsualUnits, L'\0');
  const BYTE* base = nullptr;
  ULONG units = 0;  // with the terminator
  const auto ask = [&] {
    return SUCCEEDED(info.GetModuleInfo(module, &base, static_cast<ULONG>(path.size()), &units,
                                        path.data(), nullptr));
  };
  if (!ask()) return {};
  if (units > path.size()) {
    path.resize(std::min(units, kMaxUnits));
    if (!ask()) return {};
  }
  path.resize(std::char_traits<wchar_t>::length(path.c_str()));
  return path;
}

}  // namespace mixwalk
