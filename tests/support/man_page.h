#pragma once

#include <string>
#include <vector>

#include "walker/cli/options/command_table.h"

namespace mixwalk {

// Makes docs/mixwalk.1 from what `mixwalk COMMAND --help` says about each command, as a page for man. (man-pages(7),
// groff_man(7).)
std::string man_page(const std::vector<CommandInfo>& commands);

}  // namespace mixwalk
