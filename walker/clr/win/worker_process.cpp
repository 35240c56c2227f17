#include "walker/clr/win/worker_process.h"

#include "walker/clr/win/clr_worker.h"
#include "walker/session/win/client_pipe.h"
#include "walker/session/win/message_io.h"
#include "walker/session/win/session_pipe.h"
#include "walker/session/win/start_process.h"
#include "walker/session/win/win_error.h"

namespace mixwalk {
namespace {

// The limit for the library's memory and its caches. It is many times what they need.
constexpr SIZE_T kMaxWorkerBytes = SIZE_T{2} << 30;
constexpr UINT kEnded = 4;
constexpr DWORD kEndMs = 2000;  // how long a process may take to end after TerminateProcess

std::string seconds(std::uint32_t ms) {
  return ms % 1000 == 0 ? std::to_string(ms / 1000) + " s" : std::to_string(ms) + " ms";
}

}  // namespace

Outcome<std::unique_ptr<WorkerProcess>> WorkerProcess::start(const std::wstring& program, UniqueHandle read) {
  Outcome<NamedPipe> pipe = create_pipe(std::nullopt);
  if (!pipe) return Failure{ExitCode::internal, "cannot start the worker: " + pipe.failure().message};
  const ClientPipe end = open_client_pipe(pipe->name.c_str(), GetCurrentProcessId());
  if (!end.handle) return Failure{ExitCode::internal, "cannot start the worker: pipe: " + error_text(end.error)};
  SetHandleInformation(end.handle.get(), HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
  Outcome<StartedHelper> started = start_helper(program, {.name = "worker",
                                                          .command = kClrWorkerCommand,
                                                          .arguments = {end.handle.get()},
                                                          .also = read.get(),
                                                          .max_bytes = kMaxWorkerBytes});
  if (!started) return started.failure();
  SetHandleInformation(read.get(), HANDLE_FLAG_INHERIT, 0);  // no other program needs it
  std::unique_ptr<WorkerProcess> worker(
      new WorkerProcess(std::move(*started), std::move(read), std::move(pipe->server)));
  if (!worker->pipe_.ready()) return Failure{ExitCode::internal, "cannot start the worker: event"};
  return worker;
}

WorkerProcess::~WorkerProcess() {
  if (!ended()) end("closed");
}

void WorkerProcess::end(std::string why) {
  failure_ = std::move(why);
  TerminateProcess(worker_.process.get(), kEnded);
  WaitForSingleObject(worker_.process.get(), kEndMs);
}

// Folklore: reads of a process that is ending may fail or never return (dump_outside.cpp). Real case: a program ended
// while `dump --outside` asked for its managed frames, and mixwalk waited 30 s for the worker. Remedy: the pipe is not
// waited for any longer when that process has ended. Test: WorkerQuestions.ProcessThatEnds*.
std::optional<QuestionMessage> WorkerProcess::ask(const QuestionMessage& question, std::uint32_t deadline_ms) {
  if (ended()) return std::nullopt;
  const Deadline deadline(deadline_ms);
  std::optional<std::string> received;
  IoResult result = send_framed(pipe_, encode_question(question), deadline);
  if (result == IoResult::ok) result = receive_framed(pipe_, received, question_length, deadline);
  if (received) {
    if (auto answer = decode_question(*received)) return answer;
  }
  if (read_ && WaitForSingleObject(read_.get(), 0) == WAIT_OBJECT_0) {
    end("the process has ended");
  } else if (result == IoResult::timeout) {
    end("the DAC did not answer within " + seconds(deadline_ms));
  } else if (WaitForSingleObject(worker_.process.get(), kEndMs) == WAIT_OBJECT_0) {
    end("the DAC crashed");
  } else {
    reject_answer();
  }
  return std::nullopt;
}

void WorkerProcess::reject_answer() { end("the DAC answered nonsense"); }

}  // namespace mixwalk
