#pragma once

#include <string>
#include <vector>

#include "walker/cli/options/command_table.h"

namespace mixwalk {

// Scripts by which a shell completes command lines of mixwalk. They are ASCII, with line feeds. Pure.

// For bash 4.4 or later. (Source: its manual, "Programmable Completion".)
std::string bash_completions(const std::vector<CommandInfo>& commands);
// For Windows PowerShell 5.1 and PowerShell. (Source: Microsoft Learn, "Register-ArgumentCompleter".)
std::string powershell_completions(const std::vector<CommandInfo>& commands);

}  // namespace mixwalk
