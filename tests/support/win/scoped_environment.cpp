#include "tests/support/win/scoped_environment.h"

#include <windows.h>

namespace mixwalk {

ScopedEnvironment::ScopedEnvironment(const Environment& variables) {
  for (const auto& [name, value] : variables) {
    SetEnvironmentVariableA(name.c_str(), value.c_str());
    names_.push_back(name);
  }
}

ScopedEnvironment::~ScopedEnvironment() {
  for (const std::string& name : names_) SetEnvironmentVariableA(name.c_str(), nullptr);
}

Environment dynamic_methods_may_end() { return {{"DOTNET_EnableWriteXorExecute", "0"}}; }

// 1: a dump with the stacks, and without the heap. The number is read as a hexadecimal one.
Environment crash_dump(const std::string& path) {
  return {{"DOTNET_DbgEnableMiniDump", "1"}, {"DOTNET_DbgMiniDumpType", "1"}, {"DOTNET_DbgMiniDumpName", path}};
}

}  // namespace mixwalk
