#include "walker/session/win/diagnostics_port.h"

#include <algorithm>

#include "walker/session/win/client_pipe.h"
#include "walker/session/win/win_error.h"

namespace mixwalk {
namespace {

constexpr DWORD kBusyMs = 100;
constexpr DWORD kEndingMs = 500;

Failure failure_of(IoResult result, std::uint32_t process_id) {
  const std::string process = "process " + std::to_string(process_id);
  switch (result) {
    case IoResult::exited: return {ExitCode::target_exited, process + " has ended"};
    case IoResult::timeout:
      return {ExitCode::timeout, process + " did not answer on its diagnostics port in time"};
    default:
      return {ExitCode::refused, process + " closed its diagnostics port without an answer"};
  }
}

}  // namespace

Outcome<IpcReply> ask_diagnostics_port(std::uint32_t process_id, HANDLE process,
                                       const std::string& request, const Deadline& deadline) {
  const std::wstring name = L"\\\\.\\pipe\\dotnet-diagnostic-" + std::to_wstring(process_id);
  UniqueHandle pipe;
  // The server creates the next instance only after it has accepted the last client. Until then the pipe is busy.
  while (true) {
    ClientPipe opened = open_client_pipe(name.c_str(), process_id);
    if (opened.other_server != 0) {
      return Failure{ExitCode::not_dotnet,
                     "process " + std::to_string(opened.other_server) +
                         " serves a pipe with the name of the diagnostics port of process " +
                         std::to_string(process_id) + ", which it is not"};
    }
    pipe = std::move(opened.handle);
    if (pipe) break;
    const DWORD error = opened.error;
    if (error == ERROR_ACCESS_DENIED) {
      return Failure{ExitCode::no_access,
                     "no access to the diagnostics port of process " + std::to_string(process_id)};
    }
    if (error != ERROR_PIPE_BUSY) {
      // A process that crashes closes its port first, and ends shortly afterwards.
      const DWORD ending_ms = std::min<DWORD>(kEndingMs, deadline.remaining_ms());
      if (process != nullptr && WaitForSingleObject(process, ending_ms) == WAIT_OBJECT_0) {
        return failure_of(IoResult::exited, process_id);
      }
      return Failure{ExitCode::not_dotnet, "cannot open the diagnostics port of process " +
                                               std::to_string(process_id) + ": " +
                                               error_text(error)};
    }
    if (deadline.remaining_ms() == 0) return failure_of(IoResult::timeout, process_id);
    // Folklore: the runtime creates an instance of the pipe, and only then asks to be notified of its client
    // (ds_ipc_listen in dotnet/runtime). A client that connects in between is never noticed, and from then on the port
    // accepts no client until the process ends. WaitNamedPipe wakes its caller at that very moment. Real case: a
    // visitor after a killed one, on a busy machine, some 1 time in 40. The runtime's thread proved it: it waits for
    // the event of a pipe that is connected. Remedy: try again after a time that does not depend on the pipe's state.
    // (Test: DiagnosticsPort in hostile_peer_test.)
    Sleep(std::min<DWORD>(kBusyMs, deadline.remaining_ms()));
  }
  PipeIo io(std::move(pipe), process);
  IoResult result = io.write(request.data(), request.size(), deadline);
  if (result != IoResult::ok) return failure_of(result, process_id);
  std::string reply(kIpcHeaderBytes, '\0');
  result = io.read(reply.data(), reply.size(), deadline);
  if (result != IoResult::ok) return failure_of(result, process_id);
  const auto bytes = ipc_message_bytes(reply);
  if (bytes) {
    reply.resize(*bytes);
    result = io.read(reply.data() + kIpcHeaderBytes, *bytes - kIpcHeaderBytes, deadline);
    if (result != IoResult::ok) return failure_of(result, process_id);
    if (auto decoded = decode_ipc_reply(reply)) return std::move(*decoded);
  }
  return Failure{ExitCode::refused, "process " + std::to_string(process_id) +
                                        " answered what is no message of a .NET diagnostics port"};
}

}  // namespace mixwalk
