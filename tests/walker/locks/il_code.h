#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "walker/clr/clr_questions.h"

namespace mixwalk::test {

inline constexpr char kWaitCall[] = "System.Threading.SemaphoreSlim.Wait",
                      kWaitAsyncCall[] = "System.Threading.SemaphoreSlim.WaitAsync",
                      kReleaseCall[] = "System.Threading.SemaphoreSlim.Release";

// Code of which each instruction has 10 bytes.
class Code {
 public:
  using Kind = ClrIlStep::Kind;

  Code& step(Kind kind, std::int64_t number = 0, const std::string& name = {}) {
    const auto begin = static_cast<std::uint32_t>(10 * il.size());
    il.push_back({kind, begin, begin + 10, number, name});
    return *this;
  }
  Code& argument(std::int64_t number) { return step(Kind::load_argument, number); }
  Code& field(const std::string& name) { return step(Kind::load_field, 0, name); }
  Code& call(const std::string& name, std::int64_t arguments = 0) { return step(Kind::call, arguments, name); }
  // The await of what was called before, with the number: seven instructions.
  Code& await(std::int64_t number) {
    call("T.GetAwaiter").call("T.get_IsCompleted");
    step(Kind::branch, 10 * static_cast<std::int64_t>(il.size() + 4));
    step(Kind::constant, number).step(Kind::store_field, 0, "<>1__state").step(Kind::branch, 9990);
    return call("T.GetResult");
  }

  std::vector<ClrIlStep> il;
};

}  // namespace mixwalk::test
