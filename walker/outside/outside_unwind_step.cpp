#include "walker/outside/outside_unwind_step.h"

#include <algorithm>

#include "unmanaged/step/call_site.h"
#include "unmanaged/step/entry_step.h"
#include "walker/outside/jitted_code.h"

namespace mixwalk {
namespace {

// As of RtlUnwindStep: within so many bytes of the stack's base a return address of zero may be a root.
constexpr std::uint64_t kRootBytes = 4096;
// How long code without unwind data can be outside the images: the runtime's thunks and barriers have some
// 100 bytes.
constexpr std::uint64_t kMaxOutsideLeafBytes = 4096;

// Offsets in CONTEXT of x64 (winnt.h).
constexpr std::uint64_t kContextBytes = 0x4D0, kContextFlagsAt = 0x30, kSegCsAt = 0x38, kRaxAt = 0x78,
                        kRipAt = 0xF8;
constexpr std::uint32_t kControlAndInteger = 0x10'0003;
constexpr std::uint16_t kUserCode = 0x33;

}  // namespace

OutsideUnwindStep::OutsideUnwindStep(const View& view, const StackCopy& stack) noexcept
    : view_(view),
      stack_(stack),
      table_(view.modules, view.memory, stack, view.outside),
      leaf_(view.modules, view.memory, stack, view.outside) {}

StepResult OutsideUnwindStep::step(Cursor& frame, LeafRule leaf) noexcept {
  const bool guessed = frame.guessed;
  if (const auto interrupted = interrupted_by_exception(frame)) {
    if (interrupted->registers.rsp() <= frame.registers.rsp()) return {StepFault::stack_not_growing};
    frame = *interrupted;
    return {.trust = Trust::context};
  }
  const ModuleSpan* const module = view_.modules.find(frame.code().lookup());
  Cursor caller = frame;
  const bool in_table = module != nullptr || frame.registers.rip == 0;
  const StepResult stepped = in_table ? table_.step(caller, leaf) : step_outside(caller, leaf);
  if (stepped.fault != StepFault::none) return stepped;
  // A leaf's caller has been checked, and a CONTEXT that is restored leads anywhere.
  if (stepped.trust == Trust::unwind_info || stepped.trust == Trust::dynamic) {
    if (caller.registers.rsp() > stack_.end()) return {StepFault::unreadable_stack};
    const StepFault fault = check_caller(caller, module, guessed);
    if (fault != StepFault::none) return {fault};
  }
  frame = caller;
  return stepped;
}

StepResult OutsideUnwindStep::step_outside(Cursor& frame, LeafRule leaf) noexcept {
  const std::uint64_t ip = frame.code().lookup();
  if (const auto code = view_.clr.code_at(ip)) {
    const auto function = find_jitted_function(view_.memory, *code, ip);
    if (!function) return {StepFault::unreadable_unwind};
    StepResult stepped = step_by_entry({view_.memory, stack_, function->image_base}, nullptr,
                                       function->entry, frame);
    if (stepped.fault == StepFault::none) stepped.trust = Trust::dynamic;
    return stepped;
  }
  StepResult stepped{StepFault::no_unwind};
  if (leaf == LeafRule::allowed) {
    const std::uint64_t at = frame.registers.rip;
    // A call through a null pointer, or into data: the callee has executed nothing.
    const std::uint64_t begin = leaf_.is_code(at) ? at - std::min(at, kMaxOutsideLeafBytes) : at;
    stepped = leaf_.step(frame, {begin, at});
  }
  stepped.no_unwind_data = true;
  return stepped;
}

// As RtlUnwindStep::interrupted_by_exception, which tells the folklore.
std::optional<Cursor> OutsideUnwindStep::interrupted_by_exception(const Cursor& frame) const noexcept {
  const std::uint64_t at = frame.registers.rsp();
  const bool begins = view_.exception_dispatcher != 0 &&
                      frame.registers.rip == view_.exception_dispatcher &&
                      frame.kind == AddressKind::instruction_pointer;
  if (!begins || at < stack_.begin() || at > stack_.end() || stack_.end() - at < kContextBytes) {
    return std::nullopt;
  }
  const auto flags = stack_.read_value<std::uint32_t>(at + kContextFlagsAt);
  const auto code = stack_.read_value<std::uint16_t>(at + kSegCsAt);
  if (!flags || (*flags & kControlAndInteger) != kControlAndInteger || code != kUserCode) return std::nullopt;
  Cursor found;
  auto& registers = found.registers;
  if (!stack_.read(at + kRaxAt, registers.general.data(), sizeof registers.general) ||
      !stack_.read(at + kRipAt, &registers.rip, sizeof registers.rip)) {
    return std::nullopt;
  }
  if (registers.rsp() < stack_.begin() || registers.rsp() > stack_.end()) return std::nullopt;
  return found;
}

// As RtlUnwindStep::check_caller: a root, code of an image, or code outside the images right behind a call.
StepFault OutsideUnwindStep::check_caller(const Cursor& caller, const ModuleSpan* callee,
                                          bool guessed) noexcept {
  if (caller.kind == AddressKind::instruction_pointer) return StepFault::none;
  const std::uint64_t ip = caller.registers.rip;
  if (ip == 0) {
    const bool starts_threads = callee != nullptr && callee->starts_threads;
    if (!starts_threads || guessed || stack_.cut()) return StepFault::ended_early;
    return stack_.end() - caller.registers.rsp() < kRootBytes ? StepFault::none : StepFault::ended_early;
  }
  const std::uint64_t lookup = caller.code().lookup();
  if (const ModuleSpan* module = view_.modules.find(lookup)) {
    return module->is_code(lookup) ? StepFault::none : StepFault::no_call;
  }
  const bool called = leaf_.is_code(lookup) && !calls_before(ip, view_.memory).empty();
  return called ? StepFault::none : StepFault::no_call;
}

}  // namespace mixwalk
