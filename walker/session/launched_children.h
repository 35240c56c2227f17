#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace mixwalk {

// A process that a started program, or one of its children, has started, and that may be the one that is meant. Pure,
// and portable; not frozen-safe.
struct LaunchedChild {
  enum class Kind { dotnet, native_aot, bits32 };
  std::uint32_t id = 0;
  std::string name;  // "orders.exe"
  Kind kind = Kind::dotnet;
};

// What a user should know about these processes if the started program has no runtime of .NET itself: ": its child
// process 4712 (orders.exe) has the .NET runtime: look at it with -p 4712". Empty if there is none.
std::string children_text(std::span<const LaunchedChild> children);

}  // namespace mixwalk
