#include "unmanaged/step/caller_check.h"

#include "unmanaged/step/call_site.h"
#include "unmanaged/step/pdata.h"

namespace mixwalk {
namespace {

// A return address of zero is a stack's root only in a library of the system, and only within this many bytes of the
// stack's base. Threads and fibers start near the base: the system leaves at most half a page, at random; Wine leaves
// 400 bytes. A zero elsewhere was pushed by a function.
constexpr std::uint64_t kRootBytes = 4096;

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
    return stack.end() - caller.registers.rsp() < kRootBytes ? StepFault::none : StepFault::ended_early;
  }
  const std::uint64_t lookup_ip = caller.code().lookup();
  if (found.module != nullptr) {
    return found.module->is_code(lookup_ip) ? StepFault::none : StepFault::no_call;
  }
  const bool called = leaf.is_code(lookup_ip) && !calls_before(ip, code).empty();
  return called ? StepFault::none : StepFault::no_call;
}

bool returns_to_start(const Cursor& frame, const ModuleSpan& module, const MemoryReader& code) noexcept {
  if (frame.kind != AddressKind::return_address) return false;
  const auto rva = static_cast<std::uint32_t>(frame.registers.rip - module.base);
  const EntrySearch search = find_entry(code, module, rva);
  return search.found && search.entry.begin == rva;
}

}  // namespace mixwalk
