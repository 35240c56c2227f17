#include "walker/session/process_names.h"

#include <algorithm>

#include "unmanaged/ascii_lower.h"
#include "unmanaged/image/debug_directory.h"
#include "walker/base/near_match.h"

namespace mixwalk {
namespace {

constexpr std::size_t kMaxNamedInMessage = 8;
constexpr const char* kSeeList = "mixwalk ps lists the .NET processes";

std::string without_exe(std::string_view name) {
  if (ascii_lower(name).ends_with(".exe")) name.remove_suffix(4);
  return std::string(name);
}

Failure no_process_named(const std::vector<ProcessEntry>& processes, const std::string& name) {
  const std::string what = "no process named \"" + name + "\": ";
  if (!name.empty() && name.find_first_not_of("0123456789") == std::string::npos) {
    return {ExitCode::no_process, what + "did you mean -p " + name + "?"};
  }
  std::vector<std::string> names;
  for (const ProcessEntry& entry : processes) names.push_back(without_exe(entry.name));
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const std::string near = near_match(without_exe(file_name(name)), names);
  return {ExitCode::no_process, what + (near.empty() ? kSeeList : "did you mean " + near + "? " + kSeeList)};
}

}  // namespace

Outcome<std::uint32_t> process_named(const std::vector<ProcessEntry>& processes, const std::string& name) {
  const std::string wanted = ascii_lower(without_exe(file_name(name)));
  std::vector<std::uint32_t> found;
  for (const ProcessEntry& entry : processes) {
    if (ascii_lower(without_exe(entry.name)) == wanted) found.push_back(entry.id);
  }
  if (found.empty()) return no_process_named(processes, name);
  if (found.size() == 1) return found.front();
  std::string ids;
  for (std::size_t i = 0; i < std::min(found.size(), kMaxNamedInMessage); ++i) {
    ids += (i == 0 ? "" : ", ") + std::to_string(found[i]);
  }
  if (found.size() > kMaxNamedInMessage) ids += ", …";
  return Failure{ExitCode::ambiguous, std::to_string(found.size()) + " processes are named \"" + name + "\" (" + ids +
                                          "): choose one with --process-id"};
}

Failure no_process_with(std::uint32_t id) {
  return {ExitCode::no_process, "no process with id " + std::to_string(id) + ": " + kSeeList};
}

}  // namespace mixwalk
