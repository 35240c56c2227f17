#pragma once

#include <cstdint>

namespace mixwalk {

// The CLR's answers about addresses, once the thread runs again. Not frozen-safe.
class ManagedCode {
 public:
  struct Function {
    std::uint64_t id = 0;  // FunctionID; 0 if the address is not managed code
    bool stub = false;     // code with a FunctionID that no user wrote: IL stubs
  };
  // `ip`: an address inside the instruction (CodeAddress::lookup()).
  virtual Function at(std::uint64_t ip) noexcept = 0;

 protected:
  ~ManagedCode() = default;
};

}  // namespace mixwalk
