#pragma once

#include <chrono>

namespace mixwalk {

// How long symbol servers may take.
struct SymbolLimits {
  std::chrono::milliseconds connect{5'000};   // until a connection stands
  std::chrono::milliseconds silence{15'000};  // without a byte
  std::chrono::milliseconds all{120'000};     // for everything that a command loads

  bool operator==(const SymbolLimits&) const = default;
};

}  // namespace mixwalk
