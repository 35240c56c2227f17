#include "walker/session/visit_failure.h"

#include <fmt/format.h>

#include "walker/session/image_refusal.h"

namespace mixwalk {
std::string with_exit_code(std::optional<std::uint32_t> exit_code) {
  if (!exit_code) return {};
  // Windows' own codes (an access violation, a CLR exception) are known by their hexadecimal digits.
  constexpr std::uint32_t kFirstStatus = 0x8000'0000;
  return *exit_code < kFirstStatus ? fmt::format(" with code {}", *exit_code)
                                   : fmt::format(" with code {:#x}", *exit_code);
}

std::string refusal_at_start(std::optional<std::uint32_t> exit_code) {
  // Windows' loader uses statuses only. A program of its own may end with any HRESULT.
  constexpr std::uint32_t kFirstStatus = 0xC000'0000;
  if (!exit_code || *exit_code < kFirstStatus) return {};
  const auto error = loader_error_in(*exit_code);
  const auto refusal = error ? image_refusal(*error, "the program and its DLLs") : std::nullopt;
  return refusal ? ": Windows refused one of its files: " + *refusal : std::string();
}

Failure process_ended(const VisitState& state) {
  std::string text = state.process + " ended" + with_exit_code(state.exit_code);
  if (state.greeted) return {ExitCode::target_exited, text + " while mixwalk looked at it"};
  text += " before mixwalk.dll sent a message";
  if (!state.started) return {ExitCode::target_exited, std::move(text)};
  const std::string refusal = refusal_at_start(state.exit_code);
  text += refusal.empty() ? ": it is not a .NET program, or it ended at once" : refusal;
  return {ExitCode::target_exited, std::move(text)};
}

Failure process_silent(const VisitState& state) {
  if (state.greeted) {
    return {ExitCode::timeout, state.process + " did not answer in time"};
  }
  if (state.started) {
    return {ExitCode::not_dotnet, state.process + " did not load a .NET runtime, or runs with"
                                                  " DOTNET_EnableDiagnostics_Profiler=0, or could not load mixwalk.dll"
                                                  " (the event log \"Application\" has the runtime's reason)"};
  }
  return {ExitCode::timeout, "mixwalk got no message from mixwalk.dll in " + state.process + " in time"};
}

Failure profiler_gone(const VisitState& state) {
  return {ExitCode::refused, "mixwalk.dll left " + state.process +
                                 (state.greeted ? " during the visit" : " before it sent its first message")};
}

}  // namespace mixwalk
