// Walks parked threads with the system's own dbghelp.dll. StackWalk64 must find the native frames that mixwalk finds,
// and SymFromAddr must give them the same names.

#include <gtest/gtest.h>
#include <windows.h>
// windows.h must come first:
#include <dbghelp.h>
#include <psapi.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "tests/end_to_end/session.h"
#include "tests/support/win/child_process.h"
#include "unmanaged/win/unique_handle.h"
#include "unmanaged/win/utf8.h"

namespace mixwalk {
namespace {

// Threads of hang.exe that wait in native code; the first one has no managed frame at all.
constexpr const char* kNativeOnly = "native only";
constexpr const char* kParked[] = {kNativeOnly, "native wait", "com call", "sleep", "accept", "deadlock 1"};

struct NativeFrame {
  std::uint64_t address = 0, stack_pointer = 0;
  bool operator==(const NativeFrame&) const = default;
};
void PrintTo(const NativeFrame& frame, std::ostream* out) {
  *out << std::hex << frame.address << " at " << frame.stack_pointer << std::dec;
}

// DbgHelp does not allow two threads at once, nor two sessions for one process.
class SystemDbgHelp {
 public:
  explicit SystemDbgHelp(DWORD id)
      : process_(OpenProcess(PROCESS_QUERY_INFORMATION | PROCESS_VM_READ, FALSE, id)) {
    SymSetOptions(SYMOPT_DEFERRED_LOADS | SYMOPT_FAIL_CRITICAL_ERRORS | SYMOPT_UNDNAME);
    // The search path is given here, because if _NT_SYMBOL_PATH names a server, that server would be asked. Folklore:
    // Microsoft's SymInitialize(…, TRUE) fails under Wine 8, without an error code. Remedy: SymInitialize loads no
    // module, and each module is loaded by its path.
    ready_ = SymInitializeW(process_.get(), L".", FALSE);
    if (ready_) load_modules();
  }
  ~SystemDbgHelp() {
    if (ready_) SymCleanup(process_.get());
  }
  SystemDbgHelp(const SystemDbgHelp&) = delete;
  SystemDbgHelp& operator=(const SystemDbgHelp&) = delete;
  bool ready() const { return ready_; }

  // Returns at most this many frames, leaf first.
  std::vector<NativeFrame> walk(DWORD thread_id, std::size_t most) const {
    const UniqueHandle thread(
        OpenThread(THREAD_SUSPEND_RESUME | THREAD_GET_CONTEXT | THREAD_QUERY_INFORMATION, FALSE, thread_id));
    std::vector<NativeFrame> frames;
    if (!thread || SuspendThread(thread.get()) == static_cast<DWORD>(-1)) return frames;
    CONTEXT context{};
    context.ContextFlags = CONTEXT_FULL;
    if (GetThreadContext(thread.get(), &context)) {
      STACKFRAME64 frame{};
      frame.AddrPC = {context.Rip, 0, AddrModeFlat};
      frame.AddrFrame = {context.Rbp, 0, AddrModeFlat};
      frame.AddrStack = {context.Rsp, 0, AddrModeFlat};
      while (frames.size() < most &&
             StackWalk64(IMAGE_FILE_MACHINE_AMD64, process_.get(), thread.get(), &frame, &context, nullptr,
                         &SymFunctionTableAccess64, &SymGetModuleBase64, nullptr) &&
             frame.AddrPC.Offset != 0) {
        frames.push_back({frame.AddrPC.Offset, frame.AddrStack.Offset});
      }
    }
    ResumeThread(thread.get());
    return frames;
  }

  struct Symbol {
    std::string name;
    std::uint64_t begin = 0;
  };
  Symbol symbol_of(std::uint64_t address) const {
    alignas(SYMBOL_INFO) char room[sizeof(SYMBOL_INFO) + MAX_SYM_NAME] = {};
    auto* const symbol = reinterpret_cast<SYMBOL_INFO*>(room);
    symbol->SizeOfStruct = sizeof(SYMBOL_INFO);
    symbol->MaxNameLen = MAX_SYM_NAME;
    DWORD64 behind = 0;
    if (!SymFromAddr(process_.get(), address, &behind, symbol)) return {};
    return {symbol->Name, address - behind};
  }

 private:
  void load_modules() {
    std::vector<HMODULE> modules(1024);
    DWORD bytes = 0;
    if (!EnumProcessModules(process_.get(), modules.data(), static_cast<DWORD>(modules.size() * sizeof(HMODULE)),
                            &bytes)) {
      return;
    }
    modules.resize(std::min<std::size_t>(modules.size(), bytes / sizeof(HMODULE)));
    for (const HMODULE module : modules) {
      wchar_t path[32768];
      MODULEINFO info{};
      if (!GetModuleFileNameExW(process_.get(), module, path, std::size(path)) ||
          !GetModuleInformation(process_.get(), module, &info, sizeof info)) {
        continue;
      }
      SymLoadModuleExW(process_.get(), nullptr, path, nullptr, reinterpret_cast<DWORD64>(info.lpBaseOfDll),
                       info.SizeOfImage, nullptr, 0);
    }
  }

  UniqueHandle process_;
  bool ready_ = false;
};

// The thread's native frames above the first frame that the runtime knows.
std::vector<StackFrame> leaf_frames(const Thread& thread) {
  std::vector<StackFrame> frames;
  for (const StackFrame& frame : thread.stack.frames) {
    if (frame.kind != FrameKind::native) break;
    if (frame.inline_depth == 0) frames.push_back(frame);
  }
  return frames;
}

// NtClose and ZwClose are two names of one function.
bool are_one_export(const std::string& image, const std::string& left, const std::string& right) {
  const HMODULE module = LoadLibraryW(to_utf16(image).c_str());
  if (module == nullptr) return false;
  const FARPROC function = GetProcAddress(module, left.c_str());
  return function != nullptr && function == GetProcAddress(module, right.c_str());
}

TEST(SystemDbgHelp, HasTheSameNativeFramesAndNames) {
  ChildProcess hang({fixture("hang.exe")});
  ASSERT_TRUE(hang.read_line().value_or("").starts_with("READY"));
  TargetSession session = attach_to(hang.id());
  const Snapshot snapshot = dump_named(session, {});
  EXPECT_EQ(session.leave(), "");

  const SystemDbgHelp dbghelp(hang.id());
  ASSERT_TRUE(dbghelp.ready()) << GetLastError();
  std::size_t frames = 0, names = 0;
  for (const char* name : kParked) {
    SCOPED_TRACE(name);
    const Thread& thread = thread_named(snapshot, name);
    const std::vector<StackFrame> ours = leaf_frames(thread);
    ASSERT_GE(ours.size(), 2u) << to_text(snapshot, thread);
    std::vector<NativeFrame> expected;
    for (const StackFrame& frame : ours) expected.push_back({frame.address, frame.stack_pointer});
    // For the thread without managed frames, the end of the stack must also be the same.
    const bool to_its_end = name == std::string(kNativeOnly);
    EXPECT_EQ(dbghelp.walk(thread.os_id, expected.size() + (to_its_end ? 8 : 0)), expected)
        << to_text(snapshot, thread);
    frames += expected.size();
    for (const Frame& frame : ours) {
      if (frame.name.empty() || frame.module == Frame::kNone) continue;
      const bool is_caller = frame.address_kind == AddressKind::return_address;
      const auto symbol = dbghelp.symbol_of(frame.address - (is_caller ? 1 : 0));
      // If DbgHelp knows only exports, it uses the export before the address.
      if (symbol.begin != frame.address - frame.displacement) continue;
      ++names;
      const std::string& image = snapshot.modules[static_cast<std::size_t>(frame.module)].path;
      EXPECT_TRUE(symbol.name == frame.name || are_one_export(image, symbol.name, frame.name))
          << image << ": DbgHelp says " << symbol.name << ", and mixwalk " << frame.name;
    }
  }
  std::printf("%zu native frames are the same, %zu of them with the same name\n", frames, names);
  EXPECT_GE(names, 8u);
  hang.write_line("STOP");
  EXPECT_EQ(hang.wait(20'000), 0u);
}

}  // namespace
}  // namespace mixwalk
