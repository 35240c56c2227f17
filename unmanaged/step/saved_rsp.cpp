#include "unmanaged/step/saved_rsp.h"

namespace mixwalk {

bool skip_saved_rsp(const MemoryReader& stack, Registers& caller) noexcept {
  constexpr std::uint64_t kWord = sizeof(std::uint64_t);
  if (caller.rip != caller.rsp() + kWord) return false;
  const auto return_address = stack.read_value<std::uint64_t>(caller.rsp());
  if (!return_address) return false;
  caller.rip = *return_address;
  caller[Register::rsp] += kWord;
  return true;
}

}  // namespace mixwalk
