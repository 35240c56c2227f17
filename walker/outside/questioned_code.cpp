#include "walker/outside/questioned_code.h"

#include <vector>

namespace mixwalk {

ManagedCode::Function QuestionedCode::at(std::uint64_t ip) noexcept {
  const auto code = clr_.code_at(ip);
  if (!code) return {};
  return {code->method, clr_.method(code->method).stub};
}

void name_functions(Snapshot& snapshot, ClrQuestions& clr) {
  std::vector<std::uint64_t> methods;
  for (const Thread& thread : snapshot.threads) {
    for (const Frame& frame : thread.stack.frames) {
      if (frame.function != 0) methods.push_back(frame.function);
    }
  }
  clr.expect_methods(methods);
  for (Thread& thread : snapshot.threads) {
    for (Frame& frame : thread.stack.frames) {
      if (frame.function != 0) frame.name = clr.method(frame.function).name;
    }
  }
}

}  // namespace mixwalk
