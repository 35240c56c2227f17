#include "walker/clr/win/clr_worker.h"

#include <memory>

#include "unmanaged/minidump/mapped_file.h"
#include "unmanaged/win/remote_memory.h"
#include "unmanaged/win/unique_handle.h"
#include "walker/clr/dac/win/dac_library.h"
#include "walker/clr/question_messages.h"
#include "walker/session/win/message_io.h"
#include "walker/session/win/start_process.h"
#include "walker/target/dump_target.h"

namespace mixwalk {
namespace {

constexpr int kDone = 0, kBadCommand = 2, kCrashed = 3;

LONG WINAPI on_crash(EXCEPTION_POINTERS*) {
  // There is no dialogue, no report and no debugger; the asking side only sees that the pipe closes.
  TerminateProcess(GetCurrentProcess(), kCrashed);
  return EXCEPTION_EXECUTE_HANDLER;
}

// A dump file, and the objects that its target needs.
struct OpenedDump {
  OpenedDump(const std::string& path, const std::string& symbol_path)
      : file(path), dump(Minidump::parse(file.bytes())), images(local, disk, folders(symbol_path)) {}

  SymbolPath folders(const std::string& symbol_path) {
    SymbolPath path = parse_symbol_path(symbol_path);
    find_tiers(path, disk);
    return path;
  }

  MappedFile file;
  Minidump dump;
  DiskImageFiles disk;
  LocalImageFiles local{disk};
  DiskImages images;
  std::unique_ptr<DumpTarget> target;  // null if the file is not a dump that can be read
};

class Worker {
 public:
  QuestionMessage answer(const OpenClr& open) {
    if (open.version != kQuestionsVersion) return NotOpened{"the worker is of another version of mixwalk"};
    const MemoryReader* memory = open.process != 0 ? open_process(open.process) : open_dump(open);
    if (memory == nullptr) return NotOpened{"the worker cannot read " + open.dump_path};
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
  QuestionMessage answer(const AskSyncBlocks& ask) {
    return SyncBlocksAnswer{library_->sync_blocks(ask.first).value_or(ClrSyncBlocks{})};
  }
  QuestionMessage answer(const AskObjectTypes& ask) { return ObjectTypesAnswer{library_->object_types(ask.objects)}; }
  QuestionMessage answer(const AskTypes& ask) { return TypesAnswer{library_->types(ask.method_tables)}; }
  QuestionMessage answer(const AskHeap&) {
    ManagedHeap heap = library_->heap();
    HeapAnswer answer{.parts = std::move(heap.parts), .rooms = {}};
    if (answer.parts.size() > kMaxHeapParts) answer.parts.resize(kMaxHeapParts);
    for (const auto& [begin, next] : heap.types.free_room) {
      if (answer.rooms.size() < kMaxClrThreads + kMaxHeapRooms) answer.rooms.push_back({begin, next});
    }
    return answer;
  }
  QuestionMessage answer(const AskHeapObjectTypes& ask) {
    return ObjectTypesAnswer{library_->heap_object_types(ask.addresses)};
  }
  QuestionMessage answer(const AskLockObjects& ask) { return LockObjectsAnswer{library_->lock_objects(ask.objects)}; }
  QuestionMessage answer(const AskIlPlaces& ask) { return IlPlacesAnswer{library_->il_places(ask.ips)}; }
  QuestionMessage answer(const AskMachinePlaces& ask) {
    return IlPlacesAnswer{library_->machine_places(ask.method_tables)};
  }
  QuestionMessage answer(const TargetRan&) {
    if (memory_) memory_->drop();
    library_->target_ran();
    return Opened{};
  }
  // For messages that only the asking side receives.
  template <class Other>
  QuestionMessage answer(const Other&) {
    return NotOpened{"no question"};
  }

  bool is_open() const { return library_ != nullptr; }

 private:
  const MemoryReader* open_process(std::uint64_t handle) {
    process_ = UniqueHandle(reinterpret_cast<HANDLE>(handle));
    memory_ = std::make_unique<RemoteMemory>(process_.get());
    return memory_.get();
  }
  const MemoryReader* open_dump(const OpenClr& open) {
    dump_ = std::make_unique<OpenedDump>(open.dump_path, open.symbol_path);
    if (!dump_->file.error().empty() || dump_->dump.error() != MinidumpError::none) return nullptr;
    dump_->target = std::make_unique<DumpTarget>(dump_->dump, dump_->images);
    return &dump_->target->memory();
  }

  UniqueHandle process_;
  std::unique_ptr<RemoteMemory> memory_;  // the memory of a process
  std::unique_ptr<OpenedDump> dump_;
  std::unique_ptr<DacLibrary> library_;
};

}  // namespace

std::optional<int> run_clr_worker(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.front() != kClrWorkerCommand) return std::nullopt;
  SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
  SetUnhandledExceptionFilter(on_crash);
  if (arguments.size() != 2) return kBadCommand;
  PipeIo pipe(inherited_handle(arguments[1]), nullptr);
  if (!pipe.ready() || GetFileType(pipe.handle()) != FILE_TYPE_PIPE) return kBadCommand;
  const Deadline never(INFINITE);
  Worker worker;
  std::optional<std::string> received;
  while (receive_framed(pipe, received, question_length, never) == IoResult::ok && received) {
    const auto question = decode_question(*received);
    if (!question) break;
    if (!worker.is_open() && !std::holds_alternative<OpenClr>(*question)) break;
    const QuestionMessage answer =
        std::visit([&](const auto& asked) { return worker.answer(asked); }, *question);
    if (send_framed(pipe, encode_question(answer), never) != IoResult::ok) break;
  }
  // Ends the process without the library's own cleanup, which may hang or crash.
  TerminateProcess(GetCurrentProcess(), kDone);
  return kDone;
}

}  // namespace mixwalk
