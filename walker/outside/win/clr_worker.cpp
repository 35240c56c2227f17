#include "walker/outside/win/clr_worker.h"

#include <charconv>
#include <memory>

#include "unmanaged/win/remote_memory.h"
#include "unmanaged/win/unique_handle.h"
#include "unmanaged/minidump/mapped_file.h"
#include "unmanaged/minidump/minidump.h"
#include "walker/outside/dac/win/dac_library.h"
#include "walker/outside/dump_target.h"
#include "walker/outside/win/message_pipe.h"

namespace mixwalk {
namespace {

constexpr int kDone = 0, kBadCommand = 2, kCrashed = 3;

LONG WINAPI on_crash(EXCEPTION_POINTERS*) {
  // No dialogue, no report, no debugger: the asking side sees the pipe close.
  TerminateProcess(GetCurrentProcess(), kCrashed);
  return EXCEPTION_EXECUTE_HANDLER;
}

// Null: no pipe that was inherited.
UniqueHandle pipe_of(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  const auto handle = reinterpret_cast<HANDLE>(value);
  return GetFileType(handle) == FILE_TYPE_PIPE ? UniqueHandle(handle) : UniqueHandle();
}

// Images that the dump lacks are read from this machine's files, as the asking side reads them.
struct DumpInFile {
  explicit DumpInFile(const std::string& path) : file(path) {}

  MappedFile file;
  Minidump dump = Minidump::parse(file.bytes());
  DiskImageFiles disk;
  LocalImageFiles local{disk};
  DiskImages images{local, disk, {}};
  DumpTarget target{dump, images};
};

class Worker {
 public:
  QuestionMessage answer(const OpenClr& open) {
    if (open.version != kQuestionsVersion) return NotOpened{"the worker is of another version of mixwalk"};
    const MemoryReader* memory = nullptr;
    if (open.process != 0) {
      process_ = UniqueHandle(reinterpret_cast<HANDLE>(open.process));
      memory_ = std::make_unique<RemoteMemory>(process_.get());
      memory = memory_.get();
    } else {
      dump_ = std::make_unique<DumpInFile>(open.dump_path);
      if (dump_->dump.error() != MinidumpError::none) return NotOpened{"the dump cannot be read"};
      memory = &dump_->target.memory();
    }
    auto loaded = DacLibrary::load(open.dac_path, *memory, open.runtime_base);
    if (!loaded) return NotOpened{loaded.failure().message};
    library_ = std::move(*loaded);
    return Opened{};
  }
  QuestionMessage answer(const AskCode& ask) {
    CodeAnswer answer;
    for (const std::uint64_t ip : ask.ips) answer.codes.push_back(library_->code_at(ip));
    return answer;
  }
  QuestionMessage answer(const AskMethods& ask) {
    MethodsAnswer answer;
    for (const std::uint64_t method : ask.methods) answer.methods.push_back(library_->method(method));
    return answer;
  }
  QuestionMessage answer(const AskCodeNames& ask) {
    CodeNamesAnswer answer;
    for (const std::uint64_t at : ask.addresses) answer.names.push_back(library_->code_name(at));
    return answer;
  }
  QuestionMessage answer(const AskThreads&) { return ThreadsAnswer{library_->threads()}; }
  QuestionMessage answer(const TargetRan&) {
    if (memory_) memory_->drop();
    library_->target_ran();
    return Opened{};
  }
  // What only the asking side receives.
  template <class Other>
  QuestionMessage answer(const Other&) {
    return NotOpened{"no question"};
  }

  bool is_open() const { return library_ != nullptr; }

 private:
  UniqueHandle process_;
  std::unique_ptr<RemoteMemory> memory_;
  std::unique_ptr<DumpInFile> dump_;
  std::unique_ptr<DacLibrary> library_;
};

}  // namespace

std::optional<int> run_clr_worker(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front() != kClrWorkerCommand) return std::nullopt;
  SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
  SetUnhandledExceptionFilter(on_crash);
  if (arguments.size() != 3) return kBadCommand;
  const UniqueHandle questions = pipe_of(arguments[1]), answers = pipe_of(arguments[2]);
  if (!questions || !answers) return kBadCommand;
  Worker worker;
  while (const auto question = receive_question(questions.get())) {
    if (!worker.is_open() && !std::holds_alternative<OpenClr>(*question)) break;
    const QuestionMessage answer =
        std::visit([&](const auto& asked) { return worker.answer(asked); }, *question);
    if (!send_question(answers.get(), answer)) break;
  }
  // Without the library's own end: nothing says that it ends well.
  TerminateProcess(GetCurrentProcess(), kDone);
  return kDone;
}

}  // namespace mixwalk
