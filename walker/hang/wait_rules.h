#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "walker/hang/wait.h"

namespace mixwalk {

// How near a rule's frames are to the system call at the leaf. A rule of a higher layer is more specific than a rule of
// a lower layer, and replaces it.
enum class WaitLayer : std::uint8_t {
  call,       // the system call that the thread is in
  native,     // a function of the system or the runtime around it
  primitive,  // a method of .NET that waits
  wrapper,    // a method of .NET that waits by a method of the layer primitive
  stack,      // the stack as a whole; waits.cpp recognises these waits without frames
};

// A row of the table: frames, and what a thread with such frames waits for.
struct WaitRule {
  std::string_view key;  // never changes: it is in JSON
  WaitState state = WaitState::unknown;
  WaitLayer layer = WaitLayer::call;
  std::string_view words;  // "waits to enter a monitor"
  // "ntdll!NtDelayExecution" is an image without ".dll", and a function. "@!…" means any image of the runtime. The
  // functions that a P/Invoke declares are compared with these patterns as well. A '*' at the end matches all names
  // that begin this way; "clrjit!*" also matches functions without a name.
  std::array<std::string_view, 15> natives{};
  // Methods without parameters and generic arguments, in the form of method_of(). '*' has the same meaning as above.
  std::array<std::string_view, 8> methods{};
  // Rules that this rule may replace although they are of the same layer, or although they are certain about what
  // blocks. Otherwise a lock of native code is not replaced by the managed method that led to it.
  std::array<std::string_view, 7> around{};
};

std::span<const WaitRule> wait_rules() noexcept;

// Whether a thread with this rule does not sleep until another thread wakes it, but looks again and again. So it may be
// at any place below the rule's methods, and uses processor time.
bool is_spin_wait(std::string_view key) noexcept;

// Whether a thread with this rule waits to own a lock that another thread of the process must release.
bool is_lock_wait(std::string_view key) noexcept;

// Returns null if there is no such rule.
const WaitRule* find_wait_rule(std::string_view key) noexcept;

}  // namespace mixwalk
