#include "walker/session/win/environment.h"

#include <windows.h>

#include <algorithm>
#include <map>

namespace mixwalk {
namespace {

// Windows compares names without regard to case, and requires the block to be sorted in this way.
struct NameLess {
  bool operator()(const std::wstring& left, const std::wstring& right) const {
    return CompareStringOrdinal(left.c_str(), -1, right.c_str(), -1, TRUE) == CSTR_LESS_THAN;
  }
};

}  // namespace

std::wstring environment_with(const std::vector<VariableChange>& changes) {
  std::map<std::wstring, std::wstring, NameLess> variables;
  LPWCH block = GetEnvironmentStringsW();
  for (const WCHAR* entry = block; entry != nullptr && *entry != 0;) {
    const std::wstring text(entry);
    entry += text.size() + 1;
    // "=C:=C:\dir" is a name that begins with '='.
    const auto equals = text.find(L'=', 1);
    if (equals != std::wstring::npos) variables[text.substr(0, equals)] = text.substr(equals + 1);
  }
  FreeEnvironmentStringsW(block);
  for (const auto& [name, value] : changes) {
    if (value) {
      variables[name] = *value;
    } else {
      variables.erase(name);
    }
  }
  std::wstring result;
  for (const auto& [name, value] : variables) {
    result += name + L'=' + value;
    result.push_back(L'\0');
  }
  result.push_back(L'\0');
  return result;
}

std::optional<std::wstring> environment_variable(const wchar_t* name) {
  std::wstring value;
  DWORD units = 0;
  do {
    value.resize(units);
    SetLastError(ERROR_SUCCESS);
    units = GetEnvironmentVariableW(name, value.data(), static_cast<DWORD>(value.size()));
    if (units == 0 && GetLastError() != ERROR_SUCCESS) return std::nullopt;
  } while (units > value.size());
  value.resize(units);
  return value;
}

}  // namespace mixwalk
