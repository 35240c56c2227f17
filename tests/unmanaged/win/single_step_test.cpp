// Our decoder is compared with what the processor did. Real code runs with the trap flag set, and a shadow stack
// records every call that the code makes. Before every single instruction the unwinder must find the caller on top of
// the shadow stack, with the registers that the caller had. No other unwinder is asked, so this also tests the
// instructions at which Wine 8's RtlVirtualUnwind errs (some 660 of these, counted in the output). RtlVirtualUnwind
// looks for an epilogue only behind the prologue's end, while Microsoft's compiler may put an early exit before that
// end. It also does not recognise a tail call as the end of an epilogue, so it undoes a prologue that the function has
// already undone.

#include <gtest/gtest.h>
#include <objbase.h>
#include <oleauto.h>
#include <windows.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/win/child_process.h"
#include "unmanaged/step/table_unwind_step.h"
#include "unmanaged/win/context.h"
#include "unmanaged/win/guarded.h"
#include "unmanaged/win/live_memory.h"
#include "unmanaged/win/live_modules.h"
#include "unmanaged/win/utf8.h"

namespace mixwalk {
namespace {

constexpr Register kNonvolatile[] = {Register::rbx, Register::rsp, Register::rbp,
                                     Register::rsi, Register::rdi, Register::r12,
                                     Register::r13, Register::r14, Register::r15};
constexpr std::size_t kMaxCalls = 1024;
// A trap costs some 12 µs under Wine.
constexpr std::size_t kMaxInstructions = 400'000;
// All the frames, and not only the top one, are compared once in this many instructions.
constexpr std::size_t kWholeStackEvery = 16;
constexpr DWORD kTrapFlag = 0x100;

// Reads this thread's live stack; the code under the trap flag does not run meanwhile.
class LiveStack final : public MemoryReader {
 public:
  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    const auto* tib = reinterpret_cast<const NT_TIB*>(NtCurrentTeb());
    const auto limit = reinterpret_cast<std::uint64_t>(tib->StackLimit);
    const auto base = reinterpret_cast<std::uint64_t>(tib->StackBase);
    if (address < limit || address > base || bytes > base - address) return false;
    std::memcpy(into, reinterpret_cast<const void*>(address), bytes);
    return true;
  }
};

// Folklore: libgcc's stack probe pushes two registers and has no unwind data, so while it runs, no unwinder can find
// its caller. (gcc 12's libgcc.a; it is in every program of mingw's.)
extern "C" const char ___chkstk_ms[];
bool in_stack_probe(std::uint64_t ip) {
  constexpr std::uint64_t kProbeBytes = 0x31;
  return ip - reinterpret_cast<std::uint64_t>(___chkstk_ms) < kProbeBytes;
}

bool same_frame(const Registers& left, const Registers& right) {
  for (const Register r : kNonvolatile) {
    if (left[r] != right[r]) return false;
  }
  return left.rip == right.rip;
}

// Runs one function under the trap flag, one at a time, because the handler finds this object through g_stepper.
class Stepper {
 public:
  explicit Stepper(void (*function)()) : seen_(1 << 20), modules_(table_.view()) {
    g_stepper = this;
    void* handler = AddVectoredExceptionHandler(1, &on_trap);
    stepping_ = true;
    asm volatile("pushfq\n\torl %0, (%%rsp)\n\tpopfq" ::"i"(kTrapFlag) : "memory", "cc");
    function();
    stepping_ = false;  // the next trap is the last one
    asm volatile("nop" ::: "memory");
    RemoveVectoredExceptionHandler(handler);
    g_stepper = nullptr;
  }

  std::size_t instructions = 0, places = 0, frames = 0;
  std::size_t different = 0, unproven = 0, rtl_different = 0;
  std::uint64_t first_different = 0;
  StepFault first_fault = StepFault::none;
  bool left_images = false;

  std::string place(std::uint64_t ip) const {
    const ModuleSpan* module = modules_.find(ip);
    if (module == nullptr) return "outside every image";
    char rva[32];
    std::snprintf(rva, sizeof rva, "+0x%llx", ip - module->base);
    return table_.details()[module - modules_.modules().data()].path + rva;
  }

 private:
  static LONG CALLBACK on_trap(EXCEPTION_POINTERS* exception) {
    if (exception->ExceptionRecord->ExceptionCode != EXCEPTION_SINGLE_STEP) {
      return EXCEPTION_CONTINUE_SEARCH;
    }
    CONTEXT& context = *exception->ContextRecord;
    if (g_stepper->trap(context)) {
      context.EFlags |= kTrapFlag;
    } else {
      context.EFlags &= ~kTrapFlag;
    }
    return EXCEPTION_CONTINUE_EXECUTION;
  }

  bool stop() {
    stepping_ = false;
    return false;
  }

  // Nothing here allocates, because the code that is stepped through may be in the heap.
  bool trap(const CONTEXT& context) {
    const Registers now = registers_of(context);
    if (!stepping_ || instructions == kMaxInstructions) return stop();
    if (modules_.find(now.rip) == nullptr) {
      left_images = true;  // Wine's own Unix side; on Windows this is the kernel
      return stop();
    }
    if (!note_call(now)) return stop();
    before_ = now;
    if (calls_ != 0 && !in_stack_probe(now.rip)) compare(now, context);
    ++instructions;
    return true;
  }

  // After a call, the address behind it is on the stack and Rip is elsewhere; after a return, the frame is gone.
  bool note_call(const Registers& now) {
    constexpr std::uint64_t kLongestCall = 8;
    while (calls_ != 0 && shadow_[calls_ - 1].rsp() <= now.rsp()) --calls_;
    if (now.rsp() != before_.rsp() - 8) return true;
    const auto pushed = *reinterpret_cast<const std::uint64_t*>(now.rsp());
    const std::uint64_t length = pushed - before_.rip;
    if (length < 2 || length > kLongestCall || now.rip == pushed) return true;
    if (calls_ == kMaxCalls) return false;
    shadow_[calls_] = before_;
    shadow_[calls_++].rip = pushed;
    return true;
  }

  void compare(const Registers& now, const CONTEXT& context) {
    if (remember(now.rip)) ++places;
    LiveMemory outside;
    TableUnwindStep step(modules_, code_, stack_, outside);
    Cursor frame{now};
    const std::size_t depth = instructions % kWholeStackEvery == 0 ? calls_ : 1;
    for (std::size_t i = 0; i < depth; ++i) {
      ++frames;
      const LeafRule leaf = i == 0 ? LeafRule::allowed : LeafRule::forbidden;
      const std::uint64_t ip = frame.registers.rip;
      const StepResult result = step.step(frame, leaf);
      if (result.fault == StepFault::none && same_frame(frame.registers, shadow_[calls_ - 1 - i])) {
        continue;
      }
      // No call was proven to lead here (a tail call of a tail call). The step is open, but not wrong.
      if (result.fault == StepFault::no_call) {
        ++unproven;
        break;
      }
      if (different++ == 0) first_different = ip, first_fault = result.fault;
      break;
    }
    compare_rtl(context);
  }

  void compare_rtl(CONTEXT context) {
    const std::uint64_t ip = context.Rip;
    DWORD64 image_base = 0, establisher = 0;
    void* data = nullptr;
    RUNTIME_FUNCTION* entry = RtlLookupFunctionEntry(ip, &image_base, nullptr);
    if (entry == nullptr) return;
    RtlVirtualUnwind(UNW_FLAG_NHANDLER, image_base, ip, entry, &context, &data, &establisher,
                     nullptr);
    if (!same_frame(registers_of(context), shadow_[calls_ - 1])) ++rtl_different;
  }

  // Returns true the first time.
  bool remember(std::uint64_t ip) {
    std::size_t at = (ip * 0x9E37'79B9'7F4A'7C15) >> 44;
    for (; seen_[at] != 0; at = (at + 1) % seen_.size()) {
      if (seen_[at] == ip) return false;
    }
    seen_[at] = ip;
    return true;
  }

  static inline Stepper* g_stepper = nullptr;

  volatile bool stepping_ = false;
  Registers before_;
  Registers shadow_[kMaxCalls];  // the callers' registers at their calls
  std::size_t calls_ = 0;
  std::vector<std::uint64_t> seen_;
  const ModuleTable table_ = [] {
    return read_live_modules();
  }();
  const ModuleView modules_;
  const GuardedReader code_;
  const LiveStack stack_;
};

void expect_true_callers(void (*function)(), std::size_t at_least) {
  function();  // runs once untraced, so that everything that is loaded and initialised on first use is ready

  const auto stepper = std::make_unique<Stepper>(function);
  std::printf("%zu instructions at %zu places, %zu frames: %zu differ (RtlVirtualUnwind: %zu)\n",
              stepper->instructions, stepper->places, stepper->frames, stepper->different,
              stepper->rtl_different);
  EXPECT_GE(stepper->instructions, at_least) << (stepper->left_images ? "left the images" : "");
  EXPECT_LE(stepper->unproven, stepper->instructions / 10'000);
  EXPECT_EQ(stepper->different, 0u) << "first at " << stepper->place(stepper->first_different)
                                    << ", fault " << static_cast<int>(stepper->first_fault);
}

TEST(SingleStep, ThisProgramsOwnCode) {
  expect_true_callers(
      [] {
        std::map<std::string, int> words;
        for (int i = 0; i < 40; ++i) words[std::to_string(i * 7919 % 101)] = i;
        words.erase("1");
      },
      10'000);
}

TEST(SingleStep, CallbacksFromTheCRuntime) {
  expect_true_callers(
      [] {
        int values[64];
        for (int i = 0; i < 64; ++i) values[i] = i * 7919 % 101;
        std::qsort(values, 64, sizeof values[0], [](const void* left, const void* right) {
          return *static_cast<const int*>(left) - *static_cast<const int*>(right);
        });
        char text[200];
        std::snprintf(text, sizeof text, "%g %s %08x", 1.5e100, "text", 42);
      },
      5'000);
}

TEST(SingleStep, SystemDlls) {
  expect_true_callers(
      [] {
        CLSID id{1, 2, 3, {4, 5, 6, 7}};
        OLECHAR text[64];
        StringFromGUID2(id, text, 64);
        CLSIDFromString(text, &id);
        BSTR number = nullptr;
        VarBstrFromR8(1234.5, 0x409, 0, &number);
        SysFreeString(number);
        CoTaskMemFree(CoTaskMemAlloc(100));
      },
      5'000);
}

// Code by Microsoft's compiler: chained infos, version 2 with UWOP_EPILOG, tail calls, split functions.
struct Sqlite {
  int (*open)(const char*, void**);
  int (*exec)(void*, const char*, int (*)(void*, int, char**, char**), void*, char**);
  int (*close)(void*);
  int rows = 0;
};
Sqlite g_sqlite;

TEST(SingleStep, SqliteByMicrosoftsCompiler) {
  const HMODULE dll = LoadLibraryW(to_utf16(fixture("e_sqlite3.dll")).c_str());
  ASSERT_NE(dll, nullptr);
  g_sqlite.open = reinterpret_cast<decltype(g_sqlite.open)>(GetProcAddress(dll, "sqlite3_open"));
  g_sqlite.exec = reinterpret_cast<decltype(g_sqlite.exec)>(GetProcAddress(dll, "sqlite3_exec"));
  g_sqlite.close = reinterpret_cast<decltype(g_sqlite.close)>(GetProcAddress(dll, "sqlite3_close"));
  expect_true_callers(
      [] {
        void* database = nullptr;
        g_sqlite.open(":memory:", &database);
        const auto count = [](void*, int, char**, char**) { return ++g_sqlite.rows, 0; };
        g_sqlite.exec(database,
                      "create table t(a integer primary key, b text, c real);"
                      "insert into t(b, c) values('x', 1.5), ('y', 2.5), ('z', -1);"
                      "create index i on t(b);"
                      "select upper(b), sum(c), printf('%05.2f', a) from t where b > 'a'"
                      " group by b order by c desc;",
                      count, nullptr, nullptr);
        g_sqlite.close(database);
      },
      100'000);
  EXPECT_EQ(g_sqlite.rows, 6);
}

}  // namespace
}  // namespace mixwalk
