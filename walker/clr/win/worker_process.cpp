#include "walker/clr/win/worker_process.h"

#include "unmanaged/win/utf8.h"
#include "walker/base/win/handle_list.h"
#include "walker/clr/win/clr_worker.h"
#include "walker/clr/win/message_pipe.h"
#include "walker/session/win/win_error.h"

namespace mixwalk {
namespace {

// The limit for the library's memory and its caches. It is many times what they need.
constexpr SIZE_T kMaxWorkerBytes = SIZE_T{2} << 30;
constexpr UINT kEnded = 4;
constexpr DWORD kEndMs = 2000;  // how long a process may take to end after TerminateProcess

struct Pipe {
  UniqueHandle read, write;
};

// Makes a pipe of which one end can be inherited.
Pipe make_pipe(bool child_reads) {
  HANDLE read = nullptr, write = nullptr;
  if (!CreatePipe(&read, &write, nullptr, 0)) return {};
  Pipe pipe{UniqueHandle(read), UniqueHandle(write)};
  SetHandleInformation(child_reads ? read : write, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
  return pipe;
}

// Ends the worker after a certain time, or when the process that it reads has ended, unless this object is destroyed
// before.
//
// Folklore: reads of a process that is ending may fail or never return (dump_outside.cpp). Real case: a program ended
// while `dump --outside` asked for its managed frames, and mixwalk waited 30 s for the worker. Remedy: the worker is
// also ended when that process has ended. Test: WorkerQuestions.ProcessThatEnds*.
class EndAt {
 public:
  // `read`: the process that the worker reads; null if it reads none.
  EndAt(HANDLE worker, HANDLE read, std::uint32_t ms) : worker_(worker) {
    if (!RegisterWaitForSingleObject(&wait_, read != nullptr ? read : worker, on_end, this, ms, WT_EXECUTEONLYONCE)) {
      wait_ = nullptr;
    }
  }
  ~EndAt() {
    if (wait_ != nullptr) UnregisterWaitEx(wait_, INVALID_HANDLE_VALUE);  // waits until on_end() does not run
  }
  EndAt(const EndAt&) = delete;
  EndAt& operator=(const EndAt&) = delete;

  bool ready() const noexcept { return wait_ != nullptr; }
  bool late() const noexcept { return late_; }

 private:
  static void CALLBACK on_end(PVOID self, BOOLEAN late) {
    auto& end = *static_cast<EndAt*>(self);
    end.late_ = late;
    TerminateProcess(end.worker_, kEnded);
  }

  const HANDLE worker_;
  std::atomic<bool> late_{false};
  HANDLE wait_ = nullptr;
};

std::string seconds(std::uint32_t ms) {
  return ms % 1000 == 0 ? std::to_string(ms / 1000) + " s" : std::to_string(ms) + " ms";
}

}  // namespace

Outcome<std::unique_ptr<WorkerProcess>> WorkerProcess::start(const std::wstring& program, UniqueHandle read) {
  const auto failed = [](const std::string& what) {
    return Failure{ExitCode::internal, "cannot start the worker: " + what + ": " + last_error()};
  };
  std::unique_ptr<WorkerProcess> worker(new WorkerProcess);
  worker->job_ = UniqueHandle(CreateJobObjectW(nullptr, nullptr));
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
  limits.BasicLimitInformation.LimitFlags = JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_PROCESS_MEMORY;
  limits.ProcessMemoryLimit = kMaxWorkerBytes;
  if (!worker->job_ || !SetInformationJobObject(worker->job_.get(), JobObjectExtendedLimitInformation, &limits,
                                                sizeof limits)) {
    return failed("job");
  }
  Pipe questions = make_pipe(true), answers = make_pipe(false);
  if (!questions.read || !answers.read) return failed("pipe");
  std::vector<HANDLE> handles{questions.read.get(), answers.write.get()};
  if (read) handles.push_back(read.get());
  HandleList list(std::move(handles), worker->job_.get());
  if (!list.ready()) return failed("handles");
  std::wstring command = L'"' + program + L"\" " + to_utf16(kClrWorkerCommand) + L' ' +
                         to_utf16(handle_text(questions.read.get())) + L' ' +
                         to_utf16(handle_text(answers.write.get()));
  STARTUPINFOEXW startup{};
  startup.StartupInfo.cb = sizeof startup;
  startup.lpAttributeList = list.get();
  PROCESS_INFORMATION created{};
  // The worker is created suspended, and runs only in the job. It has its own process group, since Ctrl-C is for
  // mixwalk.exe. It has no console, for which the system would start another program.
  if (!CreateProcessW(program.c_str(), command.data(), nullptr, nullptr, TRUE,
                      CREATE_SUSPENDED | CREATE_NEW_PROCESS_GROUP | DETACHED_PROCESS | EXTENDED_STARTUPINFO_PRESENT,
                      nullptr, nullptr, &startup.StartupInfo, &created)) {
    const DWORD error = GetLastError();
    return Failure{ExitCode::internal, "cannot start the worker: process: " + image_error_text(error, "mixwalk.exe")};
  }
  const UniqueHandle thread(created.hThread);
  worker->process_ = UniqueHandle(created.hProcess);
  worker->id_ = created.dwProcessId;
  SetHandleInformation(read.get(), HANDLE_FLAG_INHERIT, 0);  // no other program needs it
  worker->read_ = std::move(read);
  worker->questions_ = std::move(questions.write);
  worker->answers_ = std::move(answers.read);
  if (!list.with_job() && !AssignProcessToJobObject(worker->job_.get(), worker->process_.get())) {
    const Failure failure = failed("job");
    worker->end("not started");
    return failure;
  }
  ResumeThread(thread.get());
  return worker;
}

WorkerProcess::~WorkerProcess() {
  if (!ended()) end("closed");
}

void WorkerProcess::end(std::string why) {
  failure_ = std::move(why);
  questions_.reset();
  answers_.reset();
  TerminateProcess(process_.get(), kEnded);
  WaitForSingleObject(process_.get(), kEndMs);
}

std::optional<QuestionMessage> WorkerProcess::ask(const QuestionMessage& question, std::uint32_t deadline_ms) {
  if (ended()) return std::nullopt;
  std::optional<QuestionMessage> answer;
  bool late = false, ready = false;
  {
    const EndAt deadline(process_.get(), read_.get(), deadline_ms);
    ready = deadline.ready();
    if (ready && send_question(questions_.get(), question)) answer = receive_question(answers_.get());
    late = deadline.late();
  }
  if (answer) return answer;
  if (!ready) {
    end("the DAC is not asked: no timer could be had");
  } else if (read_ && WaitForSingleObject(read_.get(), 0) == WAIT_OBJECT_0) {
    end("the process has ended");
  } else if (late) {
    end("the DAC did not answer within " + seconds(deadline_ms));
  } else if (WaitForSingleObject(process_.get(), kEndMs) == WAIT_OBJECT_0) {
    end("the DAC crashed");
  } else {
    reject_answer();
  }
  return std::nullopt;
}

void WorkerProcess::reject_answer() { end("the DAC answered nonsense"); }

}  // namespace mixwalk
