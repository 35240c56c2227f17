#pragma once

#include <chrono>
#include <string>

namespace mixwalk {

// How long symbol servers may take.
struct SymbolLimits {
  std::chrono::milliseconds connect{5'000};   // until a connection stands
  std::chrono::milliseconds silence{15'000};  // without a byte
  std::chrono::milliseconds all{120'000};     // for everything that a command loads

  bool operator==(const SymbolLimits&) const = default;
};

// "5 s", "2.5 s", "40 ms". Pure.
inline std::string limit_text(std::chrono::milliseconds time) {
  const auto ms = time.count();
  if (ms % 100 != 0) return std::to_string(ms) + " ms";
  return std::to_string(ms / 1000) + (ms % 1000 == 0 ? "" : '.' + std::to_string(ms % 1000 / 100)) + " s";
}

}  // namespace mixwalk
