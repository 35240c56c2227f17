#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "walker/hang/wait.h"

namespace mixwalk {

// How near a rule's frames are to the system call at the leaf. A rule of a higher layer says more than a rule of a
// lower layer, and replaces it.
enum class WaitLayer : std::uint8_t {
  call,       // the system call that the thread stands in
  native,     // a function of the system or the runtime around it
  primitive,  // a method of .NET that waits
  wrapper,    // a method of .NET that waits by such a one
  stack,      // the stack as a whole: waits.cpp finds these, they have no frames
};

// A row of the table: what a thread with such frames waits for.
struct WaitRule {
  std::string_view key;  // never changes: it is in JSON
  WaitState state = WaitState::unknown;
  WaitLayer layer = WaitLayer::call;
  std::string_view words;  // "waits to enter a monitor"
  // "ntdll!NtDelayExecution": image without ".dll", function. "@!…": any image of the runtime. The functions that a
  // P/Invoke declares are compared with these patterns as well. '*' at the end: names that begin so; "clrjit!*" also
  // matches functions without a name.
  std::array<std::string_view, 12> natives{};
  // Methods without parameters and generic arguments, in the form of method_of(). '*' as above.
  std::array<std::string_view, 8> methods{};
  // Rules that this rule may replace although they are of the same layer, or although they say for certain what blocks:
  // otherwise a lock of native code is not replaced by the managed method that led to it.
  std::array<std::string_view, 7> around{};
};

std::span<const WaitRule> wait_rules() noexcept;

// Returns null if there is no such rule.
const WaitRule* find_wait_rule(std::string_view key) noexcept;

}  // namespace mixwalk
