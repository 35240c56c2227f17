#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "walker/base/printable.h"
#include "walker/cli/output/print_failure.h"
#include "walker/cli/output/write_output.h"
#include "walker/cli/win/command.h"
#include "walker/session/diagnostics_ipc.h"
#include "walker/session/win/diagnostics_port.h"
#include "walker/session/win/loaded_runtime.h"
#include "walker/session/win/processes.h"

namespace mixwalk {
namespace {

// The time limit for an answer. A process that hangs must not hang the command.
constexpr DWORD kAnswerMs = 1000;

struct Row {
  std::uint32_t id;
  std::string name;
  std::string runtime;  // empty if the process did not say
};

// The runtime of a process. The text is empty if the process did not say it. Returns nothing if the pipe belongs to
// another process, or if the process has just ended.
std::optional<std::string> runtime_of(std::uint32_t id) {
  const auto reply =
      ask_diagnostics_port(id, nullptr, encode_process_info(), Deadline(kAnswerMs));
  if (!reply && reply.failure().code == ExitCode::not_dotnet) return std::nullopt;
  if (!reply || !reply->ok) return std::string();
  const auto info = decode_process_info(reply->payload);
  return info ? ".NET " + info->runtime_version : std::string();
}

}  // namespace

ExitCode run(const PsCommand& command) {
  std::vector<Row> rows;
  for (const ProcessEntry& process : list_processes()) {
    const bool has_port = has_diagnostics_port(process.id);
    // Such a process has a port only if it was published with EventSourceSupport.
    const bool native_aot = loaded_runtime(process.id) == LoadedRuntime::native_aot;
    if (!has_port && !native_aot) continue;
    auto runtime = has_port ? runtime_of(process.id) : std::string();
    if (!runtime && !native_aot) continue;
    if (native_aot) runtime = "NativeAOT" + (runtime.value_or("").empty() ? "" : " (" + *runtime + ")");
    rows.push_back({process.id, process.name, std::move(*runtime)});
  }
  std::string text;
  if (command.format == Format::json) {
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const Row& row : rows) {
      json.push_back({{"process_id", row.id},
                      {"name", row.name},
                      {"runtime", row.runtime.empty() ? nlohmann::ordered_json(nullptr)
                                                      : nlohmann::ordered_json(row.runtime)}});
    }
    text = json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  } else {
    text = fmt::format("{:>8}  {:<32}  {}\n", "pid", "name", "runtime");
    for (const Row& row : rows) {
      constexpr std::size_t kMaxBytes = 260;
      text += fmt::format(
          "{:>8}  {:<32}  {}\n", row.id, printable(row.name, kMaxBytes),
          row.runtime.empty() ? "(no answer)" : printable(row.runtime, kMaxBytes));
    }
  }
  if (rows.empty()) {
    print_failure({ExitCode::ok, "no .NET process was found: processes of other users are listed for an administrator "
                                 "only, and dump --name NAME --outside looks at any process"});
  }
  return print(text);
}

}  // namespace mixwalk
