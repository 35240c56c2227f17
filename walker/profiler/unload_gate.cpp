#include "walker/profiler/unload_gate.h"

#include <algorithm>

#include "walker/profiler/short_wait.h"
#include "walker/profiler/slim_lock.h"

namespace mixwalk {
namespace {

// The longest time for which one question may delay a module, or a GC that waits for the finalizer. A question takes
// microseconds, or longer if its thread does not get the CPU.
constexpr DWORD kLongestForModuleMs = 100;
constexpr DWORD kLongestForMethodMs = 5;

// Waits until no thread holds the lock. It does not use AcquireSRWLockExclusive, which has no time-out.
void wait_until_unused(SRWLOCK& lock, DWORD longest_ms) noexcept {
  const bool unused = wait_shortly([&] { return TryAcquireSRWLockExclusive(&lock) != FALSE; }, longest_ms);
  if (unused) ReleaseSRWLockExclusive(&lock);
}

bool contains(const auto& all, auto one) { return std::ranges::find(all, one) != all.end(); }

bool hits_one(const Footprint& stack, const UnloadGate::Unload& unload) noexcept {
  if (unload.module != 0) return stack.unknown_code || contains(stack.modules, unload.module);
  if (contains(stack.functions, unload.function)) return true;
  if (unload.size == 0) return false;
  return std::ranges::any_of(stack.code, [&](std::uint64_t address) {
    // A return address may be the end address of the code.
    return address - unload.begin <= unload.size;
  });
}

}  // namespace

void Footprint::clear() noexcept {
  functions.clear();
  modules.clear();
  code.clear();
  unknown_code = false;
}

void UnloadGate::module_unloading(clr::ModuleID module) noexcept {
  remember({.module = module});
  wait_until_unused(modules_in_use_, kLongestForModuleMs);
}

void UnloadGate::method_unloading(clr::FunctionID function, std::uint64_t begin, std::uint64_t size) noexcept {
  remember({.function = function, .begin = begin, .size = size});
  wait_until_unused(methods_in_use_, kLongestForMethodMs);
}

void UnloadGate::remember(const Unload& unload) noexcept {
  SlimLock lock(log_lock_);
  if (!lock) {
    lost_ = true;
    return;
  }
  log_[unloads_ % kRemembered] = unload;
  ++unloads_;
  if (unload.module != 0) ++modules_;
}

bool UnloadGate::is_unloaded(clr::FunctionID function, const Mark& since) noexcept {
  SlimLock lock(log_lock_);
  if (!lock || lost_ || unloads_ - since.unloads > kRemembered) return true;
  for (std::uint64_t i = since.unloads; i < unloads_; ++i) {
    if (log_[i % kRemembered].function == function) return true;
  }
  return false;
}

bool UnloadGate::read(Mark& mark, std::vector<Unload>& unloads) {
  unloads.clear();
  unloads.reserve(kRemembered);
  SlimLock lock(log_lock_);
  if (!lock) return false;
  const bool all = !lost_ && unloads_ - mark.unloads <= kRemembered;
  for (std::uint64_t i = mark.unloads; all && i < unloads_; ++i) {
    unloads.push_back(log_[i % kRemembered]);
  }
  mark = {unloads_, modules_};
  return all;
}

bool UnloadGate::hits(const Footprint& stack, const Mark& since) noexcept {
  SlimLock lock(log_lock_);
  if (!lock || lost_ || unloads_ - since.unloads > kRemembered) {
    return stack.unknown_code || !stack.functions.empty() || modules_ != since.modules;
  }
  for (std::uint64_t i = since.unloads; i < unloads_; ++i) {
    if (hits_one(stack, log_[i % kRemembered])) return true;
  }
  return false;
}

}  // namespace mixwalk
