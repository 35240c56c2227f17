#include "walker/profiler/clr_managed_code.h"

#include <string_view>

namespace mixwalk {

ManagedCode::Function ClrManagedCode::at(std::uint64_t ip) noexcept {
  clr::FunctionID function = 0;
  const auto* code = reinterpret_cast<const BYTE*>(ip);
  if (info8_ == nullptr) {
    return FAILED(info_.GetFunctionFromIP(code, &function)) ? Function{} : Function{function, false};
  }
  clr::ReJITID rejit = 0;
  if (FAILED(info8_->GetFunctionFromIP3(code, &function, &rejit)) || function == 0) return {};
  return {function, is_stub(function)};
}

// A dynamic function is an IL stub, or a DynamicMethod that the program made (a compiled
// expression, a regular expression): the runtime's names of its own stubs tell them apart.
bool ClrManagedCode::is_stub(clr::FunctionID function) {
  const auto known = stubs_.find(function);
  if (known != stubs_.end()) return known->second;
  bool stub = false;
  BOOL dynamic = FALSE;
  if (SUCCEEDED(info8_->IsFunctionDynamic(function, &dynamic)) && dynamic) {
    WCHAR name[64] = {};
    ULONG length = 0;
    stub = SUCCEEDED(info8_->GetDynamicFunctionInfo(function, nullptr, nullptr, nullptr,
                                                    std::size(name), &length, name)) &&
           std::wstring_view(name).starts_with(L"IL_STUB");
  }
  stubs_.emplace(function, stub);
  return stub;
}

}  // namespace mixwalk
