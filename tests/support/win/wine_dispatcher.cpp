#include "tests/support/win/wine_dispatcher.h"

#include <windows.h>

#include <cstring>

#include "tests/support/win/wine.h"

namespace mixwalk {
namespace {

// Wine keeps the dispatcher's address behind KUSER_SHARED_DATA, for its stubs of system calls. The dispatcher of calls
// into Linux libraries follows the dispatcher of system calls; together they take fewer bytes than this.
constexpr std::uintptr_t kDispatcherCell = 0x7ffe1000;
constexpr std::uint64_t kDispatcherBytes = 0x400;

std::uint64_t dispatcher() {
  if (!under_wine()) return 0;
  std::uint64_t begin = 0;
  std::memcpy(&begin, reinterpret_cast<const void*>(kDispatcherCell), sizeof begin);
  return begin;
}

}  // namespace

bool in_wine_dispatcher(std::uint64_t address) {
  static const std::uint64_t kBegin = dispatcher();
  return kBegin != 0 && address - kBegin < kDispatcherBytes;
}

bool clears_new_stack(std::uint64_t rva) {
  // signal_start_thread has: rep stosq; lea -0x20(%rbx),%rsp
  constexpr unsigned char kCode[] = {0xF3, 0x48, 0xAB, 0x48, 0x8D, 0x63, 0xE0};
  const auto* const ntdll = reinterpret_cast<const unsigned char*>(GetModuleHandleW(L"ntdll.dll"));
  const auto& dos = *reinterpret_cast<const IMAGE_DOS_HEADER*>(ntdll);
  const auto& nt = *reinterpret_cast<const IMAGE_NT_HEADERS64*>(ntdll + dos.e_lfanew);
  return rva + sizeof kCode <= nt.OptionalHeader.SizeOfImage &&
         std::memcmp(ntdll + rva, kCode, sizeof kCode) == 0;
}

}  // namespace mixwalk
