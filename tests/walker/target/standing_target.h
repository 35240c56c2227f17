#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tests/builders/paged_memory.h"
#include "tests/builders/unknown_outside_memory.h"
#include "walker/target/target.h"

namespace mixwalk::test {

// A process with some threads, each with a page of stack. The process runs or is suspended.
class StandingTarget : public Target {
 public:
  static constexpr std::uint64_t kStack = 0x1'0000'0000, kRip = 0x1'8000'1020;

  const Process& process() const noexcept override { return process_; }
  const Runtime& runtime() const noexcept override { return runtime_of; }
  std::uint64_t unix_time_ms() const noexcept override { return 0; }
  std::span<const Module> modules() const noexcept override { return {}; }
  std::span<const TargetThread> threads() const noexcept override { return listed; }
  const MemoryReader& memory() const noexcept override { return memory_of; }
  OutsideMemory& outside() noexcept override { return outside_; }
  bool drop_memory() override { return live; }
  bool forget_memory() override { return live; }
  void capture(const TargetThread& thread, RawSample& sample) override {
    sample.clear();
    const std::uint64_t stack = kStack + thread.os_id * 0x1'0000;
    sample.context = registers;
    sample.context.rip = rip;
    sample.context[Register::rsp] = stack;
    sample.stack.fill(memory_of, stack, stack + stack_bytes);
    if (on_capture) on_capture();
  }

  PagedMemory memory_of;
  std::vector<TargetThread> listed;
  Runtime runtime_of{.name = ".NET", .major = 10};
  Registers registers;
  std::uint64_t rip = kRip;
  std::uint64_t stack_bytes = 4096;
  bool live = false;
  std::function<void()> on_capture;

 private:
  Process process_;
  UnknownOutsideMemory outside_;
};

}  // namespace mixwalk::test
