#pragma once

#include <string>
#include <vector>

#include "walker/cli/command_table.h"

namespace mixwalk {

// docs/mixwalk.1: what `mixwalk COMMAND --help` says of each command, as a page for man. (man-pages(7), groff_man(7).)
std::string man_page(const std::vector<CommandInfo>& commands);

}  // namespace mixwalk
