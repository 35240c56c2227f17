#include "walker/session/visit_failure.h"

#include <fmt/format.h>

namespace mixwalk {

std::string with_exit_code(std::optional<std::uint32_t> exit_code) {
  if (!exit_code) return {};
  // Windows' own codes (an access violation, a CLR exception) are known by their hexadecimal digits.
  constexpr std::uint32_t kFirstStatus = 0x8000'0000;
  return *exit_code < kFirstStatus ? fmt::format(" with code {}", *exit_code)
                                   : fmt::format(" with code {:#x}", *exit_code);
}

Failure process_ended(const VisitState& state) {
  std::string text = state.process + " ended" + with_exit_code(state.exit_code);
  if (state.greeted) return {ExitCode::target_exited, text + " while mixwalk looked at it"};
  text += " before mixwalk.dll sent a message";
  if (state.started) text += ": it is not a .NET program, or it ended at once";
  return {ExitCode::target_exited, std::move(text)};
}

Failure process_silent(const VisitState& state) {
  if (state.greeted) {
    return {ExitCode::timeout, state.process + " did not answer in time"};
  }
  if (state.started) {
    return {ExitCode::not_dotnet, state.process + " did not load a .NET runtime, or runs with"
                                                  " DOTNET_EnableDiagnostics_Profiler=0"};
  }
  return {ExitCode::timeout, "mixwalk got no message from mixwalk.dll in " + state.process + " in time"};
}

Failure profiler_gone(const VisitState& state) {
  return {ExitCode::refused, "mixwalk.dll left " + state.process +
                                 (state.greeted ? " during the visit" : " before it sent its first message")};
}

}  // namespace mixwalk
