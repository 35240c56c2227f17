#include "walker/locks/win/wait_chains.h"

#include <windows.h>
#include <wct.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "unmanaged/detached_thread.h"
#include "unmanaged/win/utf8.h"

namespace mixwalk {
namespace {

using Clock = std::chrono::steady_clock;

// wct.h: WCT_MAX_NODE_COUNT, WCTP_GETINFO_ALL_FLAGS, which mingw-w64's header lacks.
constexpr DWORD kMaxNodes = 16;
constexpr DWORD kTooManyThreads = 565;  // winerror.h: ERROR_TOO_MANY_THREADS
constexpr DWORD kOtherProcesses = 1, kOtherProcessesCom = 2, kOtherProcessesSections = 4;

// Functions of advapi32.dll, which are looked up there, so that mixwalk also runs on a system without them.
struct Functions {
  decltype(&OpenThreadWaitChainSession) open = nullptr;
  decltype(&GetThreadWaitChain) get = nullptr;
  decltype(&CloseThreadWaitChainSession) close = nullptr;
  decltype(&RegisterWaitChainCOMCallback) register_com = nullptr;
};

template <typename Function>
bool find(HMODULE module, const char* name, Function& function) {
  function = reinterpret_cast<Function>(reinterpret_cast<void*>(GetProcAddress(module, name)));
  return function != nullptr;
}

std::optional<Functions> find_functions() {
  const HMODULE advapi = LoadLibraryExW(L"advapi32.dll", nullptr, LOAD_LIBRARY_SEARCH_SYSTEM32);
  Functions functions;
  if (advapi == nullptr || !find(advapi, "OpenThreadWaitChainSession", functions.open) ||
      !find(advapi, "GetThreadWaitChain", functions.get) ||
      !find(advapi, "CloseThreadWaitChainSession", functions.close)) {
    return std::nullopt;
  }
  find(advapi, "RegisterWaitChainCOMCallback", functions.register_com);
  return functions;
}

// Gives the system two functions of COM, without which it follows no COM call.
void register_com(const Functions& functions) {
  const HMODULE ole = LoadLibraryExW(L"ole32.dll", nullptr, LOAD_LIBRARY_SEARCH_SYSTEM32);
  PCOGETCALLSTATE call = nullptr;
  PCOGETACTIVATIONSTATE activation = nullptr;
  if (functions.register_com == nullptr || ole == nullptr || !find(ole, "CoGetCallState", call) ||
      !find(ole, "CoGetActivationState", activation)) {
    return;
  }
  functions.register_com(call, activation);
}

std::optional<LockKind> kind_of(WCT_OBJECT_TYPE type) {
  switch (type) {
    case WctCriticalSectionType: return LockKind::critical_section;
    case WctSendMessageType: return LockKind::send_message;
    case WctMutexType: return LockKind::mutex;
    case WctAlpcType: return LockKind::local_call;
    case WctComType:
    case WctComActivationType: return LockKind::com_call;
    case WctThreadWaitType: return LockKind::thread_end;
    default: return std::nullopt;
  }
}

WaitChainNode node_of(const WAITCHAIN_NODE_INFO& info) {
  if (info.ObjectType == WctThreadType) {
    return {.is_thread = true,
            .process_id = info.ThreadObject.ProcessId,
            .thread_id = info.ThreadObject.ThreadId,
            .kind = {},
            .name = {}};
  }
  const WCHAR* const name = info.LockObject.ObjectName;
  const auto length = static_cast<std::size_t>(std::find(name, name + WCT_OBJNAME_LENGTH, L'\0') - name);
  return {.kind = kind_of(info.ObjectType), .name = to_utf8({name, length})};
}

std::vector<WaitChainNode> chain_of(const Functions& functions, HWCT session, DWORD thread_id) {
  std::array<WAITCHAIN_NODE_INFO, kMaxNodes> nodes{};
  DWORD count = kMaxNodes;
  WINBOOL cycle = FALSE;
  if (!functions.get(session, 0, kOtherProcesses | kOtherProcessesCom | kOtherProcessesSections, thread_id, &count,
                     nodes.data(), &cycle)) {
    // "The wait chain returned is still valid": it has the first nodes of a longer one, or lacks the threads of a busy
    // server.
    const DWORD error = GetLastError();
    if (error != ERROR_MORE_DATA && error != kTooManyThreads) return {};
  }
  std::vector<WaitChainNode> chain;
  for (DWORD i = 0; i < std::min(count, kMaxNodes); ++i) chain.push_back(node_of(nodes[i]));
  return chain;
}

}  // namespace

// The data that the asking thread and the other threads share. It lives as long as the last of them.
struct WaitChains::Asker {
  std::mutex mutex;
  std::condition_variable changed;
  DWORD question = 0;  // a thread's id; 0 if there is no question
  std::optional<std::vector<WaitChainNode>> answer;
  bool done = false;  // no more questions: one was not answered in time, or the owner is gone

  void work(const Functions& functions, HWCT session) {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return done || question != 0; });
      if (done) break;
      const DWORD thread_id = std::exchange(question, 0);
      lock.unlock();
      std::vector<WaitChainNode> chain = chain_of(functions, session, thread_id);
      lock.lock();
      answer = std::move(chain);
      changed.notify_all();
    }
    lock.unlock();
    functions.close(session);
  }

  std::vector<WaitChainNode> ask(DWORD thread_id, Clock::time_point end) {
    std::unique_lock lock(mutex);
    if (done) return {};
    answer.reset();
    question = thread_id;
    changed.notify_all();
    if (changed.wait_until(lock, end, [&] { return answer.has_value(); })) return std::move(*answer);
    // A later answer would be taken for the answer to another question.
    done = true;
    return {};
  }
};

std::unique_ptr<WaitChains> WaitChains::open(std::chrono::milliseconds time) {
  const auto functions = find_functions();
  if (!functions) return nullptr;
  register_com(*functions);
  const HWCT session = functions->open(0, nullptr);
  if (session == nullptr) return nullptr;
  auto asker = std::make_shared<Asker>();
  if (!run_detached([asker, functions = *functions, session] { asker->work(functions, session); })) {
    functions->close(session);
    return nullptr;
  }
  std::unique_ptr<WaitChains> chains(new WaitChains(std::move(asker), time));
  // This asks about a thread that exists and may be asked about. If there is no answer, the system has no wait chains.
  if (chains->asker_->ask(GetCurrentThreadId(), Clock::now() + time).empty()) return nullptr;
  return chains;
}

WaitChains::WaitChains(std::shared_ptr<Asker> asker, std::chrono::milliseconds time)
    : asker_(std::move(asker)), time_(time) {}

WaitChains::~WaitChains() {
  const std::lock_guard lock(asker_->mutex);
  asker_->done = true;
  asker_->changed.notify_all();
}

std::vector<WaitChainNode> WaitChains::of(std::uint32_t thread_id) {
  if (!end_) end_ = Clock::now() + time_;
  return asker_->ask(thread_id, *end_);
}

bool WaitChains::timed_out() const {
  const std::lock_guard lock(asker_->mutex);
  return asker_->done;
}

}  // namespace mixwalk
