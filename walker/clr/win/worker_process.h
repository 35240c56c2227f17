#pragma once

#include <windows.h>

#include <memory>
#include <optional>
#include <string>

#include "unmanaged/win/unique_handle.h"
#include "walker/base/failure.h"
#include "walker/clr/question_messages.h"
#include "walker/session/win/pipe_io.h"
#include "walker/session/win/start_process.h"

namespace mixwalk {

// A second mixwalk.exe, the worker that asks a runtime's debugging library (clr_worker.h). The two processes share only
// a pipe and the handle that `start` is given. The worker ends with this object, and also with this process, however
// this process ends.
class WorkerProcess {
 public:
  // `program`: the path of mixwalk.exe. `read`: the process that the worker reads, by a handle that can be inherited
  // and waited for, or null. The handle has the same value in the worker.
  static Outcome<std::unique_ptr<WorkerProcess>> start(const std::wstring& program, UniqueHandle read);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  // The answer to a question. Returns nothing if no answer came in time, or before the end of the process that is read.
  // The worker has then been ended, and failure() says why.
  std::optional<QuestionMessage> ask(const QuestionMessage& question, std::uint32_t deadline_ms);
  bool ended() const noexcept { return !failure_.empty(); }
  const std::string& failure() const noexcept { return failure_; }

  // To be called if the answer does not fit the question.
  void reject_answer();

  DWORD id() const noexcept { return worker_.id; }

 private:
  WorkerProcess(StartedHelper worker, UniqueHandle read, UniqueHandle pipe) noexcept
      : worker_(std::move(worker)), read_(std::move(read)), pipe_(std::move(pipe), read_.get()) {}
  void end(std::string why);

  StartedHelper worker_;
  UniqueHandle read_;
  PipeIo pipe_;
  std::string failure_;
};

}  // namespace mixwalk
