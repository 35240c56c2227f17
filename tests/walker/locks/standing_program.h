#pragma once

#include <string>
#include <vector>

#include "tests/builders/fake_clr_questions.h"
#include "tests/builders/managed_heap.h"
#include "tests/walker/target/standing_target.h"

namespace mixwalk::test {

// A program that stands, with threads whose stacks and managed objects are those of the test.
struct StandingProgram {
  StandingTarget target;
  FakeClrQuestions clr;
  ManagedHeap heap{target.memory_of, clr};
  Snapshot snapshot;
  std::uint64_t thread_type = heap.type("System.Threading.Thread", {{"_synchronizationContext"}});

  // Adds a thread with these managed frames, leaf first, and these words on its stack. Returns the address of its
  // System.Threading.Thread.
  std::uint64_t add_thread(std::uint32_t os_id, const std::vector<std::string>& frames,
                           const std::vector<std::uint64_t>& words = {}) {
    const std::uint64_t stack = StandingTarget::kStack + os_id * 0x1'0000, teb = 0x7'0000'0000 + os_id * 0x1'0000;
    heap.put(teb + 8, stack + 0x1000);
    heap.put(teb + 16, stack);
    for (std::size_t i = 0; i < words.size(); ++i) heap.put(stack + 8 * i, words[i]);
    heap.put(stack + 0xFF8, 0);
    target.listed.push_back({.os_id = os_id, .teb = teb});
    Thread thread{.os_id = os_id};
    for (const std::string& name : frames) {
      StackFrame frame;
      frame.kind = FrameKind::managed;
      frame.address = StandingTarget::kRip;
      frame.stack_pointer = stack + 0x40 * thread.stack.frames.size();
      frame.name = name;
      thread.stack.frames.push_back(frame);
    }
    snapshot.threads.push_back(thread);
    const std::uint64_t object = heap.object(thread_type);
    const auto number = static_cast<std::uint32_t>(clr.clr_threads.size() + 1);
    clr.clr_threads.push_back({.address = 0x2'2000'0000ull + number * 0x1'0000,
                               .os_id = os_id,
                               .managed_id = number,
                               .domain = 1,
                               .object = object});
    return object;
  }
};

}  // namespace mixwalk::test
