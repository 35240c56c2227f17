#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "walker/model/snapshot.h"

namespace mixwalk::test {

// Makes dumps for the tests of walker/hang. Stacks are written leaf first. A frame is
//   "ntdll!NtWaitForSingleObject"  native, of an image that exists in every dump that is made here
//   "coreclr!"                     native, without a name
//   "ntdll!sub_1"                  native, without a name, in a function that the table of functions shows
//   "code"                         native, in no image
//   "M System.Threading.Monitor.Enter(System.Object)"     managed
//   "P orders!submit", "C Orders.IOrders.Submit()"        stubs of a P/Invoke, of a COM call
//   "gap"
class HangBuilder {
 public:
  explicit HangBuilder(std::uint64_t unix_time_ms = 1'795'412'335'000);

  // Adds a thread; last() gives access to the thread that was added last.
  HangBuilder& thread(std::uint32_t os_id, const std::vector<std::string>& frames, std::string name = {});
  // Sets the processor time in milliseconds.
  HangBuilder& cpu(std::uint64_t milliseconds);
  HangBuilder& monitor(std::uint64_t address, std::uint32_t owner, const std::vector<std::uint32_t>& waiters);
  HangBuilder& lock(Lock lock);
  // Adds a task; their indices count from 0. waits_for() lets the last thread wait for one of them.
  HangBuilder& task(AsyncTask task);
  HangBuilder& waits_for(std::uint32_t task);

  Thread& last() { return snapshot_.threads.back(); }
  Snapshot& snapshot() { return snapshot_; }

 private:
  Frame frame(std::string_view text, bool leaf);

  Snapshot snapshot_;
};

// Returns the frames with those of a thread's start below them.
std::vector<std::string> managed_thread(std::vector<std::string> frames);
std::vector<std::string> pool_thread(std::vector<std::string> frames);
std::vector<std::string> main_thread(std::vector<std::string> frames);
std::vector<std::string> native_thread(std::vector<std::string> frames);

}  // namespace mixwalk::test
