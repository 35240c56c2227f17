#include "unmanaged/win/guarded.h"

#include <gtest/gtest.h>
#include <windows.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/win/child_process.h"
#include "unmanaged/win/live_memory.h"
#include "unmanaged/win/plain_memory.h"

namespace mixwalk {
namespace {

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

TEST(GuardedCopy, ReadableMemoryIsCopied) {
  const char from[] = "text";
  char to[5] = {};
  EXPECT_TRUE(guarded_copy(to, address_of(from), sizeof from));
  EXPECT_STREQ(to, "text");
  EXPECT_TRUE(guarded_copy(to, 0, 0)) << "nothing is always readable";
}

TEST(GuardedCopy, MemoryThatIsNotThereIsAFailure) {
  char to[16];
  auto* page = static_cast<char*>(
      VirtualAlloc(nullptr, 0x2000, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE));
  DWORD old = 0;
  VirtualProtect(page + 0x1000, 0x1000, PAGE_NOACCESS, &old);
  EXPECT_TRUE(guarded_copy(to, address_of(page + 0xFF0), 16));
  EXPECT_FALSE(guarded_copy(to, address_of(page + 0xFF8), 16)) << "half of it";
  EXPECT_FALSE(guarded_copy(to, address_of(page + 0x1000), 1));
  VirtualFree(page, 0, MEM_RELEASE);
  EXPECT_FALSE(guarded_copy(to, address_of(page), 1));
  EXPECT_FALSE(guarded_copy(to, 0x10, 8));
  EXPECT_FALSE(guarded_copy(to, 0x8000'0000'0000'0000, 8)) << "no canonical address";
}

struct Call {
  int entered = 0, left = 0;
  volatile int* where = nullptr;
};

[[gnu::noinline]] int read_deep(Call& call, int depth) {
  if (depth == 0) return *call.where;
  const int value = read_deep(call, depth - 1);
  return value + depth;
}

void fault_deep(void* argument) {
  auto& call = *static_cast<Call*>(argument);
  ++call.entered;
  read_deep(call, 20);
  ++call.left;
}

TEST(GuardedCall, AFaultDeepInsideComesBackHere) {
  Call call;
  for (int i = 0; i < 10'000; ++i) ASSERT_FALSE(guarded_call(&fault_deep, &call));
  EXPECT_EQ(call.entered, 10'000);
  EXPECT_EQ(call.left, 0);
  int value = 1;
  call.where = &value;
  EXPECT_TRUE(guarded_call(&fault_deep, &call));
  EXPECT_EQ(call.left, 1);
}

void nested(void* argument) {
  auto& call = *static_cast<Call*>(argument);
  EXPECT_FALSE(guarded_call(&fault_deep, &call));
  ++call.left;  // the inner fault ended the inner call only
  fault_deep(argument);
}

TEST(GuardedCall, TheInnermostCallTakesTheFault) {
  Call call;
  EXPECT_FALSE(guarded_call(&nested, &call));
  EXPECT_EQ(call.left, 1);
}

// Changes every register that a function must preserve, then faults.
extern "C" void spoil_registers_and_fault(void*);
asm(R"(
    .globl spoil_registers_and_fault
spoil_registers_and_fault:
    movl $0x10, %eax
    movq %rax, %rbx
    movq %rax, %rbp
    movq %rax, %rsi
    movq %rax, %rdi
    movq %rax, %r12
    movq %rax, %r13
    movq %rax, %r14
    movq %rax, %r15
    movq %rax, %xmm6
    movq %rax, %xmm7
    movq %rax, %xmm8
    movq %rax, %xmm9
    movq %rax, %xmm10
    movq %rax, %xmm11
    movq %rax, %xmm12
    movq %rax, %xmm13
    movq %rax, %xmm14
    movq %rax, %xmm15
    movl (%rax), %eax
    ret
)");

// Ten and eight values live across the call. The compiler has no better place for them than xmm6 … xmm15 and the
// nonvolatile general registers.
[[gnu::noinline]] void expect_registers_survive(const volatile double* reals,
                                                const volatile long long* numbers) {
  const double a = reals[0], b = reals[1], c = reals[2], d = reals[3], e = reals[4], f = reals[5],
               g = reals[6], h = reals[7], i = reals[8], j = reals[9];
  const long long k = numbers[0], l = numbers[1], m = numbers[2], n = numbers[3], o = numbers[4],
                  p = numbers[5], q = numbers[6], r = numbers[7];
  guarded_call(&spoil_registers_and_fault, nullptr);
  const double reals_now[] = {a, b, c, d, e, f, g, h, i, j};
  const long long numbers_now[] = {k, l, m, n, o, p, q, r};
  for (int at = 0; at < 10; ++at) EXPECT_EQ(reals_now[at], at + 0.5);
  for (int at = 0; at < 8; ++at) EXPECT_EQ(numbers_now[at], at + 100);
}

TEST(GuardedCall, NonvolatileRegistersSurviveAFault) {
  volatile double reals[10];
  volatile long long numbers[8];
  for (int i = 0; i < 10; ++i) reals[i] = i + 0.5;
  for (int i = 0; i < 8; ++i) numbers[i] = i + 100;
  expect_registers_survive(reals, numbers);
}

// call_with_finally(function, argument, finally): __try { function(argument) } __finally { finally() }
extern "C" void call_with_finally(void (*function)(void*), void* argument, void (*finally)());
asm(R"(
    .globl call_with_finally
    .seh_proc call_with_finally
    .seh_handler __C_specific_handler, @unwind
call_with_finally:
    subq $0x28, %rsp
    .seh_stackalloc 0x28
    .seh_endprologue
    movq %r8, 0x20(%rsp)
    movq %rcx, %rax
    movq %rdx, %rcx
.Lcall_with_finally_try:
    callq *%rax
    nop
.Lcall_with_finally_end:
    callq *0x20(%rsp)
    addq $0x28, %rsp
    ret
    .seh_handlerdata
    .long 1
    .rva .Lcall_with_finally_try, .Lcall_with_finally_end, finally_of_call
    .long 0
    .text
    .seh_endproc
)");

// The function that the system calls when the frame of call_with_finally is unwound.
extern "C" [[gnu::used]] void finally_of_call(int, char* frame) {
  (*reinterpret_cast<void (**)()>(frame + 0x20))();
}

SRWLOCK g_lock = SRWLOCK_INIT;

void fault_under_the_lock(void* argument) {
  AcquireSRWLockExclusive(&g_lock);
  call_with_finally(&fault_deep, argument, [] { ReleaseSRWLockExclusive(&g_lock); });
}

TEST(GuardedCall, TerminationHandlersInBetweenRun) {
  Call call;
  EXPECT_FALSE(guarded_call(&fault_under_the_lock, &call));
  ASSERT_TRUE(TryAcquireSRWLockExclusive(&g_lock)) << "the lock is still held";
  ReleaseSRWLockExclusive(&g_lock);
}

TEST(GuardedCall, LastErrorIsKept) {
  Call call;
  SetLastError(ERROR_FILE_NOT_FOUND);
  EXPECT_FALSE(guarded_call(&fault_deep, &call));
  EXPECT_EQ(GetLastError(), static_cast<DWORD>(ERROR_FILE_NOT_FOUND));
}

// Addresses in no image; their unwind data comes from a callback.
constexpr DWORD64 kRange = 0x8000;
constexpr DWORD kRangeBytes = 0x1000;

struct Probes {
  char* closed_page = nullptr;
  int made = 0, faulted = 0;
};

extern "C" int faults_probe(const void* address);  // fixtures/native/faults_amd64.S

RUNTIME_FUNCTION* CALLBACK probe_and_find_nothing(DWORD64, void* argument) {
  auto& probes = *static_cast<Probes*>(argument);
  ++probes.made;
  probes.faulted += faults_probe(probes.closed_page) == 0;
  return nullptr;
}

void look_up(void*) {
  DWORD64 base = 0;
  RtlLookupFunctionEntry(kRange, &base, nullptr);
}

TEST(GuardedCall, AHandlerInsideTheCallHearsOfItsFaultFirst) {
  Probes probes{static_cast<char*>(VirtualAlloc(nullptr, 0x1000, MEM_RESERVE, PAGE_NOACCESS))};
  ASSERT_TRUE(RtlInstallFunctionTableCallback(kRange | 3, kRange, kRangeBytes,
                                              &probe_and_find_nothing, &probes, nullptr));
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(guarded_call(&look_up, nullptr)) << i;
  EXPECT_EQ(probes.made, 100);
  EXPECT_EQ(probes.faulted, 100) << "the callback came to its end";
  // The lock of the tables was released, so another thread gets it.
  bool removed = false;
  std::thread([&] {
    removed = RtlDeleteFunctionTable(reinterpret_cast<RUNTIME_FUNCTION*>(kRange | 3));
  }).join();
  EXPECT_TRUE(removed);
  VirtualFree(probes.closed_page, 0, MEM_RELEASE);
}

// Whether another thread gets the lock of the function tables.
bool tables_are_free() {
  bool done = false;
  std::thread([&] {
    static RUNTIME_FUNCTION other{};
    constexpr DWORD64 kElsewhere = 0x9000;
    done = RtlAddFunctionTable(&other, 1, kElsewhere) && RtlDeleteFunctionTable(&other);
  }).join();
  return done;
}

// A table of `entries`, whose memory is freed once the system knows the table.
class StaleTable {
 public:
  explicit StaleTable(DWORD entries)
      : entries_(static_cast<RUNTIME_FUNCTION*>(
            VirtualAlloc(nullptr, kBytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE))) {
    for (DWORD i = 0; i < entries; ++i) entries_[i] = {i * 0x10, i * 0x10 + 0x10, {0x800}};
    EXPECT_TRUE(RtlAddFunctionTable(entries_, entries, kRange));
    VirtualFree(entries_, kBytes, MEM_DECOMMIT);
  }
  ~StaleTable() {
    EXPECT_TRUE(RtlDeleteFunctionTable(entries_));
    VirtualFree(entries_, 0, MEM_RELEASE);
  }
  StaleTable(const StaleTable&) = delete;
  StaleTable& operator=(const StaleTable&) = delete;

 private:
  static constexpr SIZE_T kBytes = 0x4000;
  RUNTIME_FUNCTION* entries_;
};

// In a thread with a shadow stack nothing is repaired.
class RepairedLookUp : public testing::Test {
 protected:
  void SetUp() override {
    if (has_shadow_stack()) GTEST_SKIP() << "this thread has a shadow stack";
  }
};

TEST_F(RepairedLookUp, ATableWhoseMemoryIsGoneHasNoFunctionAndTheLockIsGivenBack) {
  for (const DWORD entries : {1u, 2u, 200u}) {
    const StaleTable table(entries);
    EXPECT_EQ(guarded_look_up(&look_up, nullptr), LookUp::repaired) << entries;
    EXPECT_TRUE(tables_are_free());
  }
  EXPECT_EQ(guarded_look_up(&look_up, nullptr), LookUp::done);
}

// A callback that is registered for kRange as long as this object lives.
class Callback {
 public:
  Callback(PGET_RUNTIME_FUNCTION_CALLBACK function, void* argument) {
    EXPECT_TRUE(RtlInstallFunctionTableCallback(kRange | 3, kRange, kRangeBytes, function, argument,
                                                nullptr));
  }
  ~Callback() { EXPECT_TRUE(RtlDeleteFunctionTable(reinterpret_cast<RUNTIME_FUNCTION*>(kRange | 3))); }
  Callback(const Callback&) = delete;
  Callback& operator=(const Callback&) = delete;
};

RUNTIME_FUNCTION* CALLBACK fault_under_a_lock(DWORD64, void* argument) {
  fault_under_the_lock(argument);
  return nullptr;
}

TEST_F(RepairedLookUp, ACallbackThatFaultsIsUnwoundAndItsLocksAreGivenBack) {
  Call call;
  const Callback callback(&fault_under_a_lock, &call);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(guarded_look_up(&look_up, nullptr), LookUp::repaired);
  EXPECT_EQ(call.entered, 100);
  EXPECT_EQ(call.left, 0);
  ASSERT_TRUE(TryAcquireSRWLockExclusive(&g_lock)) << "the callback's lock is still held";
  ReleaseSRWLockExclusive(&g_lock);
  EXPECT_TRUE(tables_are_free());
}

RUNTIME_FUNCTION* CALLBACK fault_in_ntdll(DWORD64, void* argument) {
  RtlCompareMemory(argument, argument, 64);
  return nullptr;
}

TEST_F(RepairedLookUp, AFaultOfNtdllBelowACallbackEndsTheCallback) {
  void* const gone = VirtualAlloc(nullptr, 0x1000, MEM_RESERVE, PAGE_NOACCESS);
  const Callback callback(&fault_in_ntdll, gone);
  EXPECT_EQ(guarded_look_up(&look_up, nullptr), LookUp::repaired);
  EXPECT_TRUE(tables_are_free());
  VirtualFree(gone, 0, MEM_RELEASE);
}

TEST_F(RepairedLookUp, ACallbackThatHasGoneHasFoundNothing) {
  void* const code = VirtualAlloc(nullptr, 0x1000, MEM_RESERVE, PAGE_NOACCESS);
  const Callback callback(reinterpret_cast<PGET_RUNTIME_FUNCTION_CALLBACK>(code), nullptr);
  EXPECT_EQ(guarded_look_up(&look_up, nullptr), LookUp::repaired);
  EXPECT_TRUE(tables_are_free());
  VirtualFree(code, 0, MEM_RELEASE);
}

constexpr DWORD kLookUpEnded = 7;  // an exit code that GoogleTest does not use

// With a shadow stack the lock of the function tables is never released, so each of these runs in a program of its own.
[[noreturn]] void end_after_a_look_up() {
  std::_Exit(guarded_look_up(&look_up, nullptr, true) == LookUp::ended ? kLookUpEnded : 1);
}

TEST(GuardedLookUp, DISABLED_OfAStaleTable) {
  const StaleTable table(2);
  end_after_a_look_up();
}

TEST(GuardedLookUp, DISABLED_OfACallbackThatFaults) {
  Call call;
  const Callback callback(&fault_under_a_lock, &call);
  end_after_a_look_up();
}

TEST(GuardedLookUp, DISABLED_OfACallbackThatHasGone) {
  void* const code = VirtualAlloc(nullptr, 0x1000, MEM_RESERVE, PAGE_NOACCESS);
  const Callback callback(reinterpret_cast<PGET_RUNTIME_FUNCTION_CALLBACK>(code), nullptr);
  end_after_a_look_up();
}

TEST(GuardedLookUp, WithAShadowStackALookUpThatWouldMoveHasEnded) {
  for (const char* name : {"OfAStaleTable", "OfACallbackThatFaults", "OfACallbackThatHasGone"}) {
    SCOPED_TRACE(name);
    const auto result = run_program(disabled_case(std::string("GuardedLookUp.DISABLED_") + name));
    EXPECT_EQ(result.exit_code, kLookUpEnded) << result.out << result.err;
  }
}

TEST(GuardedLookUp, OtherFaultsEndTheCall) {
  Call call;
  EXPECT_EQ(guarded_look_up(&fault_deep, &call), LookUp::ended);
  EXPECT_EQ(call.left, 0);
}

// A vectored handler of the program, in front of all others.
std::atomic<int> g_exceptions{0};
std::atomic<DWORD> g_taken_on{0};

constexpr DWORD kOtherException = 0xE0001234;

LONG CALLBACK on_exception(EXCEPTION_POINTERS* exception) {
  const DWORD code = exception->ExceptionRecord->ExceptionCode;
  ++g_exceptions;
  if (code == kOtherException) return EXCEPTION_CONTINUE_EXECUTION;
  if (GetCurrentThreadId() != g_taken_on) return EXCEPTION_CONTINUE_SEARCH;
  // movl (%rax), %eax is two bytes long.
  exception->ContextRecord->Rip += 2;
  return EXCEPTION_CONTINUE_EXECUTION;
}

class ProgramHandler {
 public:
  ProgramHandler() : handler_(AddVectoredExceptionHandler(1, &on_exception)) { g_exceptions = 0; }
  ~ProgramHandler() { RemoveVectoredExceptionHandler(handler_); }
  ProgramHandler(const ProgramHandler&) = delete;
  ProgramHandler& operator=(const ProgramHandler&) = delete;

 private:
  void* handler_;
};

TEST(Guards, FaultsOfThreadsWithoutAGuardAreTheProgramsOwn) {
  const ProgramHandler handler;
  const auto fault_as_well = [](void*) {
    std::thread([] {
      g_taken_on = GetCurrentThreadId();
      std::uint64_t value = 0x10;
      asm volatile("movl (%%rax), %%eax" : "+a"(value));
      g_taken_on = 0;
    }).join();
  };
  EXPECT_TRUE(guarded_call(fault_as_well, nullptr));
  EXPECT_EQ(g_exceptions, 1);
}

TEST(Guards, OtherExceptionsGoTheirWay) {
  const ProgramHandler handler;
  const auto raise = [](void*) { RaiseException(kOtherException, 0, 0, nullptr); };
  EXPECT_TRUE(guarded_call(raise, nullptr));
  EXPECT_EQ(g_exceptions, 1);
}

TEST(Guards, ManyThreadsAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([] {
      Call call;
      char to[8];
      for (int j = 0; j < 500; ++j) {
        EXPECT_FALSE(guarded_call(&nested, &call));
        EXPECT_FALSE(guarded_copy(to, 0x10, sizeof to));
      }
      EXPECT_EQ(call.left, 500);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Pages of our own, each with its own protection.
class Pages {
 public:
  explicit Pages(std::initializer_list<DWORD> protections)
      : memory_(static_cast<char*>(VirtualAlloc(nullptr, protections.size() * kPage,
                                                MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE))) {
    std::size_t page = 0;
    for (const DWORD protection : protections) protect(page++, protection);
  }
  ~Pages() { VirtualFree(memory_, 0, MEM_RELEASE); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::uint64_t at(std::size_t page) const { return address_of(memory_ + page * kPage); }
  void protect(std::size_t page, DWORD protection) const {
    DWORD old = 0;
    VirtualProtect(memory_ + page * kPage, kPage, protection, &old);
  }
  DWORD protection(std::size_t page) const {
    MEMORY_BASIC_INFORMATION region{};
    VirtualQuery(memory_ + page * kPage, &region, sizeof region);
    return region.Protect;
  }

  static constexpr std::size_t kPage = 0x1000;

 private:
  char* memory_;
};

constexpr DWORD kGuard = PAGE_READWRITE | PAGE_GUARD;

TEST(PlainMemory, GuardedAndClosedPagesAreLeftAloneAndNobodyHears) {
  const ProgramHandler handler;
  const Pages pages{PAGE_READWRITE, kGuard, PAGE_READWRITE, PAGE_NOACCESS, PAGE_READONLY};
  const PlainMemory memory;
  char to[2 * Pages::kPage];
  EXPECT_TRUE(memory.read(pages.at(0), to, Pages::kPage));
  EXPECT_FALSE(memory.read(pages.at(1), to, 1));
  EXPECT_FALSE(memory.read(pages.at(0) + 8, to, Pages::kPage));
  EXPECT_FALSE(memory.read(pages.at(2), to, Pages::kPage + 1));
  EXPECT_FALSE(memory.read(pages.at(3), to, 1));
  EXPECT_TRUE(memory.read(pages.at(4), to, Pages::kPage));
  EXPECT_FALSE(memory.read(0x10, to, 1));
  EXPECT_FALSE(memory.read(0x8000'0000'0000'0000, to, 1)) << "no canonical address";
  EXPECT_TRUE(memory.read(0x10, to, 0)) << "nothing is always readable";
  EXPECT_EQ(g_exceptions, 0);
  EXPECT_EQ(pages.protection(1), kGuard);
  // A guard alone is not enough: it cannot prevent that the program's handlers are called, and that the program's guard
  // page loses its guard.
  EXPECT_FALSE(guarded_copy(to, pages.at(1), 1));
  EXPECT_EQ(g_exceptions, 1);
  EXPECT_EQ(pages.protection(1), static_cast<DWORD>(PAGE_READWRITE));
}

TEST(PlainMemory, ReadsUpToThePageThatIsNotPlain) {
  const ProgramHandler handler;
  const Pages pages{PAGE_READONLY, PAGE_READWRITE, kGuard, PAGE_READWRITE};
  const PlainMemory memory;
  char to[4 * Pages::kPage];
  EXPECT_EQ(memory.read_up_to(pages.at(0) + 16, to, sizeof to - 16), 2 * Pages::kPage - 16);
  EXPECT_EQ(memory.read_up_to(pages.at(1), to, 24), 24u);
  EXPECT_EQ(memory.read_up_to(pages.at(2), to, 24), 0u);
  EXPECT_EQ(g_exceptions, 0);
}

TEST(KnownMemory, OnlyWhatCanBeReadUnnoticed) {
  const ProgramHandler handler;
  const Pages pages{PAGE_READONLY, kGuard, PAGE_EXECUTE_READ, PAGE_NOACCESS};
  // The last page belongs to an image that the program has closed.
  ModuleSpan image{.base = pages.at(3), .size = Pages::kPage};
  image.closed = true;
  const ModuleView images({&image, 1});
  LiveMemory outside;
  const KnownMemory memory(images, outside);
  char to[16];
  EXPECT_TRUE(memory.read(pages.at(0), to, sizeof to));
  EXPECT_TRUE(memory.read(pages.at(2), to, sizeof to));
  EXPECT_FALSE(memory.read(pages.at(1), to, 1));
  EXPECT_FALSE(memory.read(pages.at(1) - 8, to, sizeof to)) << "its end is guarded";
  EXPECT_FALSE(memory.read(pages.at(2) - 8, to, sizeof to)) << "its beginning is";
  EXPECT_FALSE(memory.read(pages.at(3), to, 1));
  EXPECT_FALSE(memory.read(0x10, to, 1));
  EXPECT_EQ(g_exceptions, 0);
  EXPECT_EQ(pages.protection(1), kGuard);
}

TEST(LiveMemory, KeepsCodeThatIsTheRuntimesAndNothingElse) {
  const Pages pages{PAGE_EXECUTE_READ, PAGE_READONLY, PAGE_EXECUTE_READ};
  LiveMemory memory;
  memory.begin_stack(1000);
  const auto kinds = [&] {
    return std::array{memory.kind(pages.at(0)), memory.kind(pages.at(1)), memory.kind(pages.at(2))};
  };
  const std::array before{MemoryKind::code, MemoryKind::data, MemoryKind::code};
  EXPECT_EQ(kinds(), before);
  pages.protect(0, PAGE_NOACCESS);
  pages.protect(1, PAGE_NOACCESS);
  pages.protect(2, PAGE_NOACCESS);
  EXPECT_EQ(kinds(), before) << "of the stack being walked";
  memory.keep(pages.at(0) + 16);
  memory.keep(pages.at(1));  // the page is not code
  memory.begin_stack(1000 + LiveMemory::kKeptMs - 1);
  EXPECT_EQ(kinds(), (std::array{MemoryKind::code, MemoryKind::nothing, MemoryKind::nothing}));
  memory.forget();
  EXPECT_EQ(memory.kind(pages.at(0)), MemoryKind::nothing);
}

TEST(LiveMemory, KeepsNothingForLong) {
  const Pages pages{PAGE_EXECUTE_READ};
  LiveMemory memory;
  memory.begin_stack(1000);
  EXPECT_EQ(memory.kind(pages.at(0)), MemoryKind::code);
  memory.keep(pages.at(0));
  pages.protect(0, PAGE_NOACCESS);
  memory.begin_stack(1000 + LiveMemory::kKeptMs);
  EXPECT_EQ(memory.kind(pages.at(0)), MemoryKind::nothing);
}

}  // namespace
}  // namespace mixwalk
