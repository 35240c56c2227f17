#include "walker/cli/doctor_symbols.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "symbols/server/symbol_servers.h"
#include "walker/base/partial_file.h"

namespace mixwalk {
namespace {

using State = DoctorLine::State;

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path_of(path), ignored);
}

// Whether the folder is made when the first file is loaded into it.
bool is_made_when_needed(const std::string& folder, const SymbolPath& path) {
  return std::ranges::any_of(path.servers, [&](const SymbolPath::Server& server) {
    return std::ranges::find(server.stores, folder) != server.stores.end();
  });
}

DoctorLine server_line(const SymbolPath::Server& server, const SymbolLimits& limits, HttpGet& http) {
  const std::string fault = server_fault(http, server.url, limits);
  if (fault.empty()) return {.check = "symbol server", .found = server.url + " answers"};
  return {.state = State::note,
          .check = "symbol server",
          .found = server.url + ": " + fault,
          .advice = "correct its address, or ask no server (--symbols offline)"};
}

}  // namespace

std::vector<DoctorLine> symbol_path_lines(const SymbolPath& path, const SymbolLimits& limits, HttpGet& http) {
  std::vector<DoctorLine> lines;
  if (path.folders.empty() && path.servers.empty() && path.left_out.empty()) {
    lines.push_back({.state = State::note,
                     .check = "symbol path",
                     .found = "none: PDBs are looked for beside their images only",
                     .advice = "--symbol-path or _NT_SYMBOL_PATH names more folders, and --symbols online asks "
                               "Microsoft's symbol server"});
  }
  for (const SymbolPath::Folder& folder : path.folders) {
    const bool good = is_folder(folder.path) || is_made_when_needed(folder.path, path);
    lines.push_back({.state = good ? State::good : State::note,
                     .check = "symbol path",
                     .found = folder.path + (good ? "" : " is not a folder"),
                     .advice = good ? "" : "correct --symbol-path or _NT_SYMBOL_PATH"});
  }
  for (const SymbolPath::Server& server : path.servers) lines.push_back(server_line(server, limits, http));
  for (const SymbolPath::LeftOut& one : path.left_out) {
    lines.push_back({.state = State::note,
                     .check = "symbol path",
                     .found = one.part + ' ' + std::string(one.why) + ", and is left out",
                     .advice = std::string(one.advice)});
  }
  return lines;
}

}  // namespace mixwalk
