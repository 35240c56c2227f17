#include "walker/session/snapshot_collector.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace mixwalk {
namespace {

// Limits for the data that a target can make mixwalk.exe keep in memory. A process has hundreds of modules and threads,
// and a dump some ten thousand different functions.
constexpr std::size_t kMaxModules = 100'000;
constexpr std::size_t kMaxThreads = 100'000;
constexpr std::size_t kMaxFunctions = 1'000'000;

}  // namespace

void SnapshotCollector::begin(const Hello& hello, Engine engine) {
  snapshot_.process = hello.process;
  snapshot_.runtime = hello.runtime;
  snapshot_.engine = engine;
}

SnapshotCollector::Step SnapshotCollector::accept(Message message) {
  if (auto* module = std::get_if<Module>(&message)) {
    if (snapshot_.modules.size() == kMaxModules) return Step::protocol_error;
    snapshot_.modules.push_back(std::move(*module));
    return Step::more;
  }
  if (auto* assembly = std::get_if<Assembly>(&message)) {
    if (snapshot_.assemblies.size() == kMaxModules) return Step::protocol_error;
    snapshot_.assemblies.push_back(std::move(*assembly));
    return Step::more;
  }
  if (auto* function = std::get_if<FunctionName>(&message)) {
    if (functions_.size() == kMaxFunctions) return Step::protocol_error;
    functions_[function->id] = std::move(function->text);
    return Step::more;
  }
  if (auto* thread = std::get_if<Thread>(&message)) {
    return add_thread(std::move(*thread)) ? Step::more : Step::protocol_error;
  }
  const auto* done = std::get_if<DumpDone>(&message);
  if (done == nullptr) return Step::protocol_error;
  for (const Thread& thread : snapshot_.threads) {
    if (thread.moment > done->moments.size()) return Step::protocol_error;
  }
  snapshot_.breaker = done->breaker;
  snapshot_.moments = done->moments;
  return Step::done;
}

bool SnapshotCollector::add_thread(Thread thread) {
  if (snapshot_.threads.size() == kMaxThreads) return false;
  for (Frame& frame : thread.stack.frames) {
    if (frame.module < Frame::kNone ||
        frame.module >= static_cast<std::int64_t>(snapshot_.modules.size())) {
      return false;
    }
    if (frame.il.assembly < Frame::kNone ||
        frame.il.assembly >= static_cast<std::int64_t>(snapshot_.assemblies.size())) {
      return false;
    }
    if (frame.function == 0) continue;
    const auto name = functions_.find(frame.function);
    if (name != functions_.end()) frame.name = name->second;
  }
  snapshot_.threads.push_back(std::move(thread));
  return true;
}

Snapshot SnapshotCollector::finish() {
  std::vector<std::size_t> order(snapshot_.modules.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [this](std::size_t left, std::size_t right) {
    return snapshot_.modules[left].base < snapshot_.modules[right].base;
  });
  std::vector<std::int32_t> place(order.size());
  std::vector<Module> sorted;
  sorted.reserve(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = static_cast<std::int32_t>(i);
    sorted.push_back(std::move(snapshot_.modules[order[i]]));
  }
  snapshot_.modules = std::move(sorted);
  for (Thread& thread : snapshot_.threads) {
    for (Frame& frame : thread.stack.frames) {
      if (frame.module != Frame::kNone) {
        frame.module = place[static_cast<std::size_t>(frame.module)];
      }
    }
  }
  std::stable_sort(
      snapshot_.threads.begin(), snapshot_.threads.end(),
      [](const Thread& left, const Thread& right) { return left.os_id < right.os_id; });
  return std::move(snapshot_);
}

}  // namespace mixwalk
