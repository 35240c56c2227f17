#include "unmanaged/win/guarded.h"

#include <gtest/gtest.h>
#include <windows.h>

#include <cstring>

namespace mixwalk {
namespace {

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

TEST(GuardedCopy, ReadableMemoryIsCopied) {
  const FaultGuard guard;
  const char from[] = "text";
  char to[5] = {};
  EXPECT_TRUE(guarded_copy(to, address_of(from), sizeof from));
  EXPECT_STREQ(to, "text");
  EXPECT_TRUE(guarded_copy(to, 0, 0)) << "nothing is always readable";
}

TEST(GuardedCopy, MemoryThatIsNotThereIsAFailure) {
  const FaultGuard guard;
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
  const FaultGuard guard;
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
  const FaultGuard guard;
  Call call;
  EXPECT_FALSE(guarded_call(&nested, &call));
  EXPECT_EQ(call.left, 1);
}

// Leaves nothing in the registers that a function must keep, then faults.
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

// Ten and eight values that live across the call: the compiler has nowhere better to keep them than
// xmm6 … xmm15 and the nonvolatile general registers.
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
  const FaultGuard guard;
  volatile double reals[10];
  volatile long long numbers[8];
  for (int i = 0; i < 10; ++i) reals[i] = i + 0.5;
  for (int i = 0; i < 8; ++i) numbers[i] = i + 100;
  expect_registers_survive(reals, numbers);
}

LONG CALLBACK take_fault(EXCEPTION_POINTERS* exception) {
  if (exception->ExceptionRecord->ExceptionCode != EXCEPTION_ACCESS_VIOLATION) {
    return EXCEPTION_CONTINUE_SEARCH;
  }
  // mov (%rax), %eax is two bytes long.
  exception->ContextRecord->Rip += 2;
  return EXCEPTION_CONTINUE_EXECUTION;
}

TEST(FaultGuard, LeavesTheFaultsOfOthersAlone) {
  const FaultGuard guard;
  void* handler = AddVectoredExceptionHandler(0, &take_fault);  // behind ours
  std::uint64_t value = 0x10;
  SetLastError(ERROR_FILE_NOT_FOUND);
  asm volatile("movl (%%rax), %%eax" : "+a"(value));
  const DWORD last_error = GetLastError();
  RemoveVectoredExceptionHandler(handler);
  EXPECT_EQ(last_error, static_cast<DWORD>(ERROR_FILE_NOT_FOUND));
  SUCCEED() << "the other handler got it";
}

}  // namespace
}  // namespace mixwalk
