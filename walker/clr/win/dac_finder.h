#pragma once

#include <string>
#include <vector>

namespace mixwalk {

// The folders of the .NET runtimes that are installed on this machine, newest version first:
// "C:\Program Files\dotnet\shared\Microsoft.NETCore.App\10.0.12". UTF-8.
std::vector<std::string> installed_runtimes();

}  // namespace mixwalk
