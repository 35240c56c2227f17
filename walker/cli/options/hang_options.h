#pragma once

#include <optional>
#include <string>
#include <vector>

#include "walker/cli/options/arguments.h"

namespace mixwalk {

// The command lines of `mixwalk compare` and `mixwalk report`.
struct HangArguments {
  std::vector<std::string> files;
  std::optional<std::string> output, format, symbol_path;
  std::string dac;
  Colour colour = Colour::automatic;
  bool all = false, quiet = false, across = false, verbose = false;
};

void add_compare(CLI::App& app, HangArguments& arguments);
void add_report(CLI::App& app, HangArguments& arguments);
ParseResult finish_compare(const HangArguments& arguments);
ParseResult finish_report(const HangArguments& arguments);

}  // namespace mixwalk
