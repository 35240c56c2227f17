#pragma once

#include <optional>
#include <string>

#include "walker/cli/options/arguments.h"

namespace mixwalk {

// The command line of `mixwalk doctor`.
struct DoctorArguments {
  std::optional<std::uint32_t> id;
  std::optional<std::string> name;
  bool json = false;
  bool no_trial = false;
  std::optional<std::string> symbol_path;
};

void add_doctor(CLI::App& app, DoctorArguments& arguments);
ParseResult finish_doctor(const DoctorArguments& arguments);

}  // namespace mixwalk
