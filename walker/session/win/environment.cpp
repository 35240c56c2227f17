#include "walker/session/win/environment.h"

#include <windows.h>

#include <algorithm>
#include <map>

namespace mixwalk {
namespace {

// Windows compares names without case, and wants the block sorted so.
struct NameLess {
  bool operator()(const std::wstring& left, const std::wstring& right) const {
    return CompareStringOrdinal(left.c_str(), -1, right.c_str(), -1, TRUE) == CSTR_LESS_THAN;
  }
};

}  // namespace

std::wstring environment_with(const std::vector<std::pair<std::wstring, std::wstring>>& set) {
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
  for (const auto& [name, value] : set) variables[name] = value;
  std::wstring result;
  for (const auto& [name, value] : variables) {
    result += name + L'=' + value;
    result.push_back(L'\0');
  }
  result.push_back(L'\0');
  return result;
}

}  // namespace mixwalk
