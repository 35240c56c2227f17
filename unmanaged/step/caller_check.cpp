#include "unmanaged/step/caller_check.h"

#include <array>
#include <optional>

#include "unmanaged/step/call_site.h"
#include "unmanaged/step/interrupted_context.h"
#include "unmanaged/step/pdata.h"

namespace mixwalk {
namespace {

// A return address of zero is a stack's root only in a library of the system, and only within this many bytes of the
// stack's base. Threads and fibers start near the base: the system leaves at most half a page, at random; Wine leaves
// 400 bytes. A zero elsewhere was pushed by a function.
constexpr std::uint64_t kRootBytes = 4096;

// How far above the outermost frame of a thread that has not begun the CONTEXT is with which it begins. The CONTEXT is
// aligned to 16 bytes.
constexpr std::uint64_t kStartContextBytes = 1024, kContextAlignment = 16;

// Whether the CONTEXT with which a thread begins lies right above this Rsp.
//
// Folklore: while the loader prepares a thread (LdrInitializeThunk), the outermost frame lies below a CONTEXT, whose
// processor state has several KiB with AVX-512 and AMX. So such a frame may be farther from the stack's base than any
// other one. Not seen: Wine's CONTEXT is short. Test: caller_check_test.
bool has_start_context(const StackCopy& stack, std::uint64_t rsp) noexcept {
  const std::uint64_t first = (rsp + kContextAlignment - 1) / kContextAlignment * kContextAlignment;
  for (std::uint64_t at = first; at < rsp + kStartContextBytes; at += kContextAlignment) {
    const std::optional<Registers> start = interrupted_context(stack, at);
    if (start && start->rip != 0 && start->rsp() > at && stack.end() - start->rsp() < kRootBytes) return true;
  }
  return false;
}

// OnHijackTripThread: mov rdx, rsp; push rax; push rdx; and pushes of the registers that a callee saves. The same in
// .NET 8, 9 and 10.
constexpr std::array<std::uint8_t, 17> kTripThread = {0x48, 0x8B, 0xD4, 0x50, 0x52, 0x41, 0x57, 0x41, 0x56,
                                                      0x41, 0x55, 0x41, 0x54, 0x55, 0x53, 0x56, 0x57};
constexpr std::uint64_t kFunctionAlignment = 16;

}  // namespace

StepFault check_caller(const FoundCaller& found, const StackCopy& stack, LeafStep& leaf,
                       const MemoryReader& code) noexcept {
  const Cursor& caller = found.caller;
  if (caller.kind == AddressKind::instruction_pointer) return StepFault::none;
  const std::uint64_t ip = caller.registers.rip;
  if (ip == 0) {
    // A frame that was only guessed to have called a leaf does not count as the start of a thread.
    const bool starts_threads = found.callee != nullptr && found.callee->starts_threads;
    if (!starts_threads || found.guessed || stack.cut()) return StepFault::ended_early;
    const std::uint64_t rsp = caller.registers.rsp();
    return stack.end() - rsp < kRootBytes || has_start_context(stack, rsp) ? StepFault::none : StepFault::ended_early;
  }
  const std::uint64_t lookup_ip = caller.code().lookup();
  if (found.module != nullptr) {
    if (is_return_trap(ip, *found.module, code)) return StepFault::return_replaced;
    return found.module->is_code(lookup_ip) ? StepFault::none : StepFault::no_call;
  }
  const bool called = leaf.is_code(lookup_ip) && !calls_before(ip, code).empty();
  return called ? StepFault::none : StepFault::no_call;
}

bool is_return_trap(std::uint64_t return_address, const ModuleSpan& module, const MemoryReader& code) noexcept {
  if (module.return_trap != 0 && return_address == module.base + module.return_trap) return true;
  return return_address % kFunctionAlignment == 0 && module.is_code(return_address) &&
         code.read_value<std::array<std::uint8_t, kTripThread.size()>>(return_address) == kTripThread;
}

bool returns_to_start(const Cursor& frame, const ModuleSpan& module, const MemoryReader& code) noexcept {
  if (frame.kind != AddressKind::return_address) return false;
  const auto rva = static_cast<std::uint32_t>(frame.registers.rip - module.base);
  const EntrySearch search = find_entry(code, module, rva);
  return search.found && search.entry.begin == rva;
}

}  // namespace mixwalk
