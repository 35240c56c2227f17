#pragma once

#include <cstddef>

namespace mixwalk {

// How far the stacks of a walk and the runtime's own notes about the calls from managed to native code agree.
struct CallAgreement {
  std::size_t calls = 0;      // calls that the runtime has noted
  std::size_t met = 0;        // of them: those whose caller the walk has found by itself
  std::size_t runs = 0;       // native runs that end at a managed frame
  std::size_t bounded = 0;    // of them: those for which the runtime has noted a call
  std::size_t agreed = 0;     // of these: those where the walk has found the caller by itself

  CallAgreement& operator+=(const CallAgreement& other) {
    calls += other.calls;
    met += other.met;
    runs += other.runs;
    bounded += other.bounded;
    agreed += other.agreed;
    return *this;
  }
  bool operator==(const CallAgreement&) const = default;
};

}  // namespace mixwalk
