#include "walker/profiler/agent.h"

#include "unmanaged/win/module_path.h"
#include "unmanaged/win/utf8.h"
#include "walker/profiler/dumper.h"
#include "walker/profiler/recorder.h"
#include "walker/profiler/sample_buffers.h"
#include "walker/suspended/win/supervisor.h"

namespace mixwalk {
namespace {

// What the runtime is told a detach may take. It waits that long before it first looks whether
// all threads have left the profiler; ours have, within microseconds.
constexpr DWORD kDetachMs = 50;

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
  // The thread's own reference to the DLL: the runtime frees its one when it detaches, while this
  // thread may still have its last few instructions to go.
  module_ = this_module();
  owner_ = owner;
  owner_->AddRef();
  const UniqueHandle thread(CreateThread(nullptr, 0, &run, this, 0, nullptr));
  if (!thread) {
    owner_->Release();
    FreeLibrary(module_);
  }
  return static_cast<bool>(thread);
}

DWORD WINAPI Agent::run(void* self) {
  HMODULE module = nullptr;
  {
    auto& agent = *static_cast<Agent*>(self);
    agent.serve();
    IUnknown* const owner = agent.owner_;
    module = agent.module_;
    owner->Release();  // the agent is gone with it
  }
  FreeLibraryAndExitThread(module, 0);
}

void Agent::serve() {
  if (!pipe_.connect(pipe_name_)) {
    WaitForSingleObject(serve_.get(), INFINITE);
    detach();
    return;
  }
  WaitForSingleObject(serve_.get(), INFINITE);
  hello_ = {kProtocolVersion, this_process(), clr_.runtime()};
  if (pipe_.send(hello_)) answer_requests();
  detach();
}

void Agent::answer_requests() {
  while (const auto request = pipe_.receive()) {
    if (const auto* dump_request = std::get_if<DumpRequest>(&*request)) {
      if (!dump(*dump_request)) return;
    } else if (const auto* record_request = std::get_if<RecordRequest>(&*request)) {
      if (!record(*record_request)) return;
    } else {
      return;
    }
  }
}

bool Agent::with_sampler(std::uint32_t deadline_ms, const std::function<bool(Sampler&)>& work) {
  const FaultGuard guard;
  const SampleBuffers buffers;
  Supervisor supervisor(deadline_ms);
  if (!buffers.ready() || !supervisor.start()) return false;
  Sampler sampler(clr_, {registry_, gate_, unload_gate_, breaker_}, supervisor, buffers);
  return work(sampler);
}

bool Agent::dump(const DumpRequest& request) {
  const Dumper::Sink sink = [this](const Message& message) { return pipe_.send(message); };
  return with_sampler(request.deadline_ms,
                      [&](Sampler& sampler) { return Dumper(sampler, sink).dump(request); });
}

bool Agent::record(const RecordRequest& request) {
  return with_sampler(request.sampling.deadline_ms, [&](Sampler& sampler) {
    return Recorder(sampler, events_, pipe_, hello_).record(request);
  });
}

void Agent::detach() {
  const HRESULT result = clr_.info->RequestProfilerDetach(kDetachMs);
  if (SUCCEEDED(result)) WaitForSingleObject(detached_.get(), INFINITE);
  pipe_.send(Detached{SUCCEEDED(result) ? 0u : static_cast<std::uint32_t>(result)});
  pipe_.close();
}

}  // namespace mixwalk
