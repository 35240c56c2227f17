#include "walker/target/first_fault.h"

#include <algorithm>
#include <array>

#include "unmanaged/step/interrupted_context.h"
#include "walker/model/crash_words.h"

namespace mixwalk {
namespace {

// What the system puts on the stack before it enters KiUserExceptionDispatcher: a CONTEXT, and behind it an
// EXCEPTION_RECORD. (The first instructions of that function, of Windows 10 and of Wine, have the same offset.)
constexpr std::uint64_t kRecordBehind = 0x4F0, kBytes = 0x590, kAlignment = 16;
constexpr std::uint64_t kAddress = 16, kCount = 24, kParameters = 32;  // of an EXCEPTION_RECORD (winnt.h)
constexpr std::uint64_t kRaiseBytes = 0x100;                          // more than RaiseException has

// (Microsoft Learn, "GetExceptionCode macro".)
constexpr std::array<std::uint32_t, 17> kFaults = {
    exception_code::kAccessViolation, exception_code::kInPageError, exception_code::kGuardPage, 0x8000'0002,
    0xC000'001D, 0xC000'008C, 0xC000'008D, 0xC000'008E, 0xC000'008F, 0xC000'0090, 0xC000'0091, 0xC000'0092,
    0xC000'0093, exception_code::kIntegerDivision, 0xC000'0095, 0xC000'0096, exception_code::kStackOverflow};

std::optional<MinidumpException> fault_at(const StackCopy& stack, std::uint64_t at) {
  const std::uint64_t record = at + kRecordBehind;
  const auto registers = interrupted_context(stack, at);
  // (The pair lies below what was interrupted.)
  if (!registers || registers->rsp() < at + kBytes) return std::nullopt;
  if (stack.word(record + kAddress) != registers->rip) return std::nullopt;
  MinidumpException fault{.code = stack.read_value<std::uint32_t>(record).value_or(0),
                          .address = registers->rip,
                          .registers = registers};
  const auto count = stack.read_value<std::uint32_t>(record + kCount);
  if (!count || *count > MinidumpException::kMaxParameters) return std::nullopt;
  fault.parameter_count = *count;
  for (std::uint32_t i = 0; i < *count; ++i) {
    fault.parameters[i] = stack.word(record + kParameters + 8 * std::uint64_t{i}).value_or(0);
  }
  return fault;
}

}  // namespace

bool is_fault(std::uint32_t code) noexcept { return std::ranges::find(kFaults, code) != kFaults.end(); }

bool is_raised_anew(const MinidumpException& exception, std::uint64_t raise) noexcept {
  if (!exception.registers || !is_fault(exception.code)) return false;
  return exception.address != exception.registers->rip || (raise != 0 && exception.address - raise < kRaiseBytes);
}

std::optional<MinidumpException> first_fault(const MinidumpException& exception, const StackCopy& stack,
                                             std::span<const std::uint64_t> frames) {
  const auto was_handled = [&](std::uint64_t at) {
    return !frames.empty() && at <= frames.back() && !std::ranges::binary_search(frames, at);
  };
  const std::uint64_t first = (stack.begin() + kAlignment - 1) / kAlignment * kAlignment;
  if (first < stack.begin()) return std::nullopt;  // beyond the last address
  for (std::uint64_t at = first; at < stack.end() && stack.end() - at >= kBytes; at += kAlignment) {
    if (stack.read_value<std::uint32_t>(at + kRecordBehind) != exception.code || was_handled(at)) continue;
    auto fault = fault_at(stack, at);
    if (!fault) continue;
    // A handler that raises a fault anew has left out its parameters, or has them all.
    const bool same = exception.parameter_count == 0 || exception.parameters == fault->parameters;
    if (!same) continue;
    fault->thread = exception.thread;
    return fault;
  }
  return std::nullopt;
}

}  // namespace mixwalk
