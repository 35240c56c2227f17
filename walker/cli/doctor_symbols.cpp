#include "walker/cli/doctor_symbols.h"

#include <algorithm>

#include "symbols/server/symbol_servers.h"
#include "symbols/shares.h"

namespace mixwalk {
namespace {

using State = DoctorLine::State;

// Whether the folder is made when the first file is loaded into it.
bool is_made_when_needed(const std::string& folder, const SymbolPath& path) {
  return std::ranges::any_of(path.servers, [&](const SymbolPath::Server& server) {
    return std::ranges::find(server.stores, folder) != server.stores.end();
  });
}

DoctorLine folder_line(const std::string& folder, const SymbolPath& path) {
  DoctorLine line{.check = "symbol path", .found = folder};
  const FolderState state = folder_at(folder);
  if (state == FolderState::silent) {
    line.state = State::note;
    line.found += " does not answer";
    line.advice = "name a folder of this machine instead";
  } else if (state == FolderState::missing && !is_made_when_needed(folder, path)) {
    line.state = State::note;
    line.found += " is not a folder";
    line.advice = "correct --symbol-path or _NT_SYMBOL_PATH";
  }
  return line;
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
    lines.push_back(folder_line(folder.path, path));
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
