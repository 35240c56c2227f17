#include "walker/profiler/agent.h"

#include <memory>
#include <new>

#include "unmanaged/win/module_path.h"
#include "unmanaged/win/own_thread.h"
#include "unmanaged/win/utf8.h"
#include "walker/profiler/dumper.h"
#include "walker/profiler/recorder.h"
#include "walker/profiler/sample_buffers.h"
#include "walker/suspended/win/supervisor.h"

namespace mixwalk {
namespace {

// The time-out for the detach that is given to the runtime. The runtime checks after that time, and again after twice
// that time, whether all threads have left the profiler, but never less than 300 ms after its last check.
//
// Folklore: the third check comes 5 s after the second. Situation: the runtime was given 50 ms, and its thread began
// 100 ms late, on a busy machine. Both times had passed, and the first check came after 5 s. Real case: mixwalk left
// the torture program after 5.7 s, and another time only at its end. Remedy: 300 ms. With 300 ms, no check comes later
// than with 50 ms (SleepWhileProfilerEvacuates, profdetach.cpp of dotnet/runtime). Test:
// Dump.LeavesSoonWhereTheRuntimeBeginsLate.
constexpr DWORD kDetachMs = 300;

std::string no_thread_text(std::uint32_t start_ms) {
  return "no thread could be started in the target within " + std::to_string(start_ms / 1000) +
         " s: its loader lock is held, or the machine is very busy";
}

Process this_process() {
  return {GetCurrentProcessId(), to_utf8(module_path(nullptr)), to_utf8(GetCommandLineW())};
}

HMODULE this_module() {
  HMODULE module = nullptr;
  GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS,
                     reinterpret_cast<LPCWSTR>(&this_process), &module);
  return module;
}

}  // namespace

bool Agent::start(std::wstring pipe_name, IUnknown* owner) {
  pipe_name_ = std::move(pipe_name);
  serve_ = UniqueHandle(CreateEventW(nullptr, TRUE, FALSE, nullptr));
  detached_ = UniqueHandle(CreateEventW(nullptr, TRUE, FALSE, nullptr));
  if (!serve_ || !detached_) return false;
  // The thread's own reference to the DLL. The runtime releases its reference when it detaches, while this thread may
  // still have its last few instructions to execute.
  module_ = this_module();
  owner_ = owner;
  owner_->AddRef();
  thread_ = start_own_thread(&run, this);
  if (!thread_) {
    owner_->Release();
    FreeLibrary(module_);
  }
  registry_.set_claimer(thread_.get());
  return static_cast<bool>(thread_);
}

DWORD WINAPI Agent::run(void* self) noexcept {
  HMODULE module = nullptr;
  {
    auto& agent = *static_cast<Agent*>(self);
    agent.serve();
    IUnknown* const owner = agent.owner_;
    module = agent.module_;
    owner->Release();  // this deletes the agent
  }
  FreeLibraryAndExitThread(module, 0);
}

void Agent::serve() noexcept {
  const bool connected = pipe_.connect(pipe_name_);
  WaitForSingleObject(serve_.get(), INFINITE);
  if (connected) {
    const WorkEnd end = prepared_ == WorkEnd::done ? run_guarded([this] { talk(); }) : prepared_;
    if (end != WorkEnd::done) {
      pipe_.send_failed(end == WorkEnd::no_memory ? VisitFailed::Why::no_memory
                                                  : VisitFailed::Why::defect);
    }
  }
  detach();
}

void Agent::talk() {
  hello_ = {kProtocolVersion, this_process(), clr_.runtime(), GetCurrentThreadId()};
  if (pipe_.send(hello_)) answer_requests();
}

void Agent::answer_requests() {
  while (const auto request = pipe_.receive()) {
    if (const auto* offer = std::get_if<LedgerOffer>(&*request)) {
      // Only the first ledger is accepted, since it may contain a frozen thread.
      if (ledger_) return;
      ledger_ = SharedLedger::open(reinterpret_cast<HANDLE>(offer->section));
      if (!ledger_) {
        give_up("mixwalk.dll cannot map the memory of mixwalk.exe");
        return;
      }
    } else if (const auto* dump_request = std::get_if<DumpRequest>(&*request)) {
      if (!dump(*dump_request)) return;
    } else if (const auto* record_request = std::get_if<RecordRequest>(&*request)) {
      if (!record(*record_request)) return;
    } else {
      return;
    }
  }
}

bool Agent::with_sampler(const DumpRequest& sampling, const std::function<bool(Sampler&)>& work) {
  // The ledger lets mixwalk.exe undo suspensions that are left behind in the target.
  if (!ledger_) return false;
  const SampleBuffers buffers;
  if (!buffers.ready()) throw std::bad_alloc();
  // Longer than any claim lasts, even if a canary's worker does not return.
  constexpr DWORD kClaimMs = 10'000;
  registry_.set_patience(sampling.deadline_ms + kClaimMs);
  // Folklore: the system frees the stack of a thread that TerminateThread ends. Situation: the program ends this
  // thread; the supervisor, the workers and the loader's notifications continue, and would use the data on its stack.
  // Remedy: everything that other threads may access is on the heap, and is never freed if this thread does not reach
  // its end. (Microsoft Learn, "TerminateThread"; Wine keeps such a stack. Found by reading.)
  const auto supervisor = std::make_unique<Supervisor>(ledger_->page(), sampling.deadline_ms);
  // The supervisor's thread may still be waiting at the end. If so, this thread waits in ~Supervisor, with nothing
  // frozen.
  if (!supervisor->start(sampling.start_ms)) {
    if (supervisor->thread_id() == 0) throw std::bad_alloc();  // no thread could be created
    return give_up(no_thread_text(sampling.start_ms));
  }
  const SamplerServices services{registry_, gate_, unload_gate_, breaker_};
  const auto sampler = std::make_unique<Sampler>(clr_, services, *supervisor, buffers);
  return work(*sampler);
}

// Always returns false.
bool Agent::give_up(std::string why) {
  pipe_.send(Problem{std::move(why)});
  return false;
}

bool Agent::dump(const DumpRequest& request) {
  const Dumper::Sink sink = [this](const Message& message) { return pipe_.send(message); };
  return with_sampler(request, [&](Sampler& sampler) { return Dumper(sampler, sink).dump(request); });
}

bool Agent::record(const RecordRequest& request) {
  return with_sampler(request.sampling, [&](Sampler& sampler) {
    return std::make_unique<Recorder>(sampler, events_, pipe_, hello_, request)->record();
  });
}

void Agent::detach() noexcept {
  const HRESULT result = clr_.info->RequestProfilerDetach(kDetachMs);
  if (SUCCEEDED(result)) WaitForSingleObject(detached_.get(), INFINITE);
  run_guarded([&] {
    pipe_.send(Detached{SUCCEEDED(result) ? 0u : static_cast<std::uint32_t>(result)});
  });
  pipe_.close();
}

}  // namespace mixwalk
