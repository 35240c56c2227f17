#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "walker/cli/options/arguments.h"

namespace mixwalk {

// The command line of `mixwalk symbolise`.
struct SymboliseArguments {
  std::optional<std::string> input, output, symbol_path;
};

void add_symbolise(CLI::App& app, SymboliseArguments& arguments);
ParseResult finish_symbolise(const SymboliseArguments& arguments);

}  // namespace mixwalk
