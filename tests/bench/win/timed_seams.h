#pragma once

#include "tests/bench/win/cycles.h"
#include "unmanaged/step/memory_reader.h"
#include "unmanaged/step/unwind_step.h"
#include "walker/merge/merge.h"
#include "walker/suspended/managed_walk.h"
#include "walker/suspended/probe.h"
#include "walker/suspended/thread_control.h"

namespace mixwalk::bench {

// Wrappers that measure the time of the product's interfaces; the wrapped object does the work. Frozen-safe if the
// wrapped object is.

struct FrozenParts {
  std::uint64_t suspend = 0, registers = 0, copy = 0, ask = 0, probe = 0, walk = 0, resume = 0;
};

class TimedThread final : public ThreadControl {
 public:
  TimedThread(ThreadControl& thread, FrozenParts& parts) noexcept
      : thread_(thread), parts_(parts) {}
  Suspend suspend() noexcept override {
    const Timed timed(parts_.suspend);
    return thread_.suspend();
  }
  void resume() noexcept override {
    const Timed timed(parts_.resume);
    thread_.resume();
  }
  bool read_registers(Registers& registers) noexcept override {
    const Timed timed(parts_.registers);
    return thread_.read_registers(registers);
  }
  bool suspended_by_others() const noexcept override { return thread_.suspended_by_others(); }
  StackLimits stack_limits() const noexcept override { return thread_.stack_limits(); }
  bool overdue() const noexcept override { return thread_.overdue(); }
  std::uint64_t last_frozen_ns() const noexcept override { return thread_.last_frozen_ns(); }
  std::uint64_t now_ns() const noexcept override { return thread_.now_ns(); }

 private:
  ThreadControl& thread_;
  FrozenParts& parts_;
};

class TimedReader final : public MemoryReader {
 public:
  TimedReader(const MemoryReader& memory, std::uint64_t& sum) noexcept
      : memory_(memory), sum_(sum) {}
  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    const Timed timed(sum_);
    return memory_.read(address, into, bytes);
  }
  std::size_t read_up_to(std::uint64_t address, void* into,
                         std::size_t bytes) const noexcept override {
    const Timed timed(sum_);
    return memory_.read_up_to(address, into, bytes);
  }

 private:
  const MemoryReader& memory_;
  std::uint64_t& sum_;
};

class TimedWalk final : public ManagedWalk {
 public:
  TimedWalk(ManagedWalk& walk, FrozenParts& parts) noexcept : walk_(walk), parts_(parts) {}
  bool is_managed(std::uint64_t ip) noexcept override {
    const Timed timed(parts_.ask);
    return walk_.is_managed(ip);
  }
  void walk(std::uint64_t clr_thread, const Registers* seed, RawSample& sample) noexcept override {
    const Timed timed(parts_.walk);
    walk_.walk(clr_thread, seed, sample);
  }

 private:
  ManagedWalk& walk_;
  FrozenParts& parts_;
};

class TimedProbe final : public Probe {
 public:
  TimedProbe(Probe& probe, FrozenParts& parts) noexcept : probe_(probe), parts_(parts) {}
  bool passes() noexcept override {
    const Timed timed(parts_.probe);
    return probe_.passes();
  }

 private:
  Probe& probe_;
  FrozenParts& parts_;
};

// The time is measured separately for images and for code that the runtime made, because the runtime's code has its
// unwind data elsewhere.
struct MergeParts {
  std::uint64_t image_steps = 0, image_step = 0;
  std::uint64_t dynamic_steps = 0, dynamic_step = 0;
  std::uint64_t asked = 0, ask = 0;
};

class TimedStep final : public UnwindStep {
 public:
  TimedStep(UnwindStep& step, const ModuleView& modules, MergeParts& parts) noexcept
      : step_(step), modules_(modules), parts_(parts) {}
  StepResult step(Cursor& frame, LeafRule leaf) noexcept override {
    const ModuleSpan* module = modules_.find(frame.code().lookup());
    const bool dynamic = module == nullptr || module->has_managed_code;
    ++(dynamic ? parts_.dynamic_steps : parts_.image_steps);
    const Timed timed(dynamic ? parts_.dynamic_step : parts_.image_step);
    return step_.step(frame, leaf);
  }

 private:
  UnwindStep& step_;
  const ModuleView& modules_;
  MergeParts& parts_;
};

class TimedCode final : public ManagedCode {
 public:
  TimedCode(ManagedCode& code, MergeParts& parts) noexcept : code_(code), parts_(parts) {}
  Function at(std::uint64_t ip) noexcept override {
    ++parts_.asked;
    const Timed timed(parts_.ask);
    return code_.at(ip);
  }

 private:
  ManagedCode& code_;
  MergeParts& parts_;
};

}  // namespace mixwalk::bench
