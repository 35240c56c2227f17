#pragma once

#include <string>
#include <vector>

#include "walker/cli/command_table.h"

namespace mixwalk {

// docs/options.md: what `mixwalk COMMAND --help` says of each command, as Markdown.
std::string options_page(const std::vector<CommandInfo>& commands);

}  // namespace mixwalk
