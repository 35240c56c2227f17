#pragma once

#include <string>
#include <vector>

#include "walker/cli/options/command_table.h"

namespace mixwalk {

// Makes docs/options.md from what `mixwalk COMMAND --help` says about each command, as Markdown.
std::string options_page(const std::vector<CommandInfo>& commands);

}  // namespace mixwalk
