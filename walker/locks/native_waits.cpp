#include "walker/locks/native_waits.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "unmanaged/home_space.h"
#include "unmanaged/ascii_lower.h"
#include "walker/locks/waiting_threads.h"
#include "walker/model/thread_locks.h"
#include "walker/target/process_block.h"

namespace mixwalk {
namespace {

// A wait of the system has this many frames at most.
constexpr std::size_t kMaxWaitFrames = 12;
// The return address, and the room for arguments above it.
constexpr std::uint64_t kAboveReturn = 8 + kHomeBytes;
constexpr std::uint64_t kMaxWaitBytes = 4096;
constexpr std::size_t kMaxWaiters = 1000;  // the limit for threads that are captured again

constexpr std::string_view kSection[] = {"RtlEnterCriticalSection", "RtlpEnterCriticalSectionContended",
                                         "RtlpWaitOnCriticalSection", "RtlpWaitForCriticalSection"};
// The last four: functions of Windows 11 24H2, which the first two jump to. Without a PDB, the import by which they are
// called names them (check_calls.h).
constexpr std::string_view kSrwLock[] = {"RtlAcquireSRWLockExclusive",           "RtlAcquireSRWLockShared",
                                         "RtlpAcquireSRWLockExclusiveContended", "RtlpAcquireSRWLockSharedContended",
                                         "AcquireSRWLockExclusive",              "AcquireSRWLockShared"};

// RTL_CRITICAL_SECTION.
struct Section {
  std::uint64_t debug_info = 0;  // kNoDebugInfo, or the address of a SectionDebug
  std::int32_t lock_count = 0;
  std::int32_t recursion = 0;
  std::uint64_t owner = 0;  // a thread's id
  std::uint64_t semaphore = 0;
  std::uint64_t spin_count = 0;
};
static_assert(sizeof(Section) == 0x28);
constexpr std::uint64_t kNoDebugInfo = ~0ull;
// RTL_CRITICAL_SECTION_DEBUG, up to the field that points back.
struct SectionDebug {
  std::uint16_t type = 0;  // kSectionType
  std::uint16_t creator = 0;
  std::uint32_t unused = 0;
  std::uint64_t section = 0;
};
static_assert(sizeof(SectionDebug) == 0x10);
constexpr std::uint16_t kSectionType = 0;  // winnt.h: RTL_CRITSECT_TYPE
constexpr std::int32_t kMaxRecursion = 1'000'000;
constexpr std::int32_t kMaxCountedWaiters = 1'000'000;
// Fields whose addresses the waiting functions keep.
constexpr std::uint64_t kFields[] = {0, 8, 0x18};

// Windows: bit 0 is clear if the section is held; the bits above bit 1 are the complement of the number of waiting
// threads. Wine: the count is the number of entries by the owner plus the number of waiting threads, minus one.
bool is_waited_for(const Section& section) {
  const std::int32_t count = section.lock_count;
  if (count < 0 && (count & 1) != 0) return false;
  const std::int32_t waiters = count < 0 ? (-1 - count) >> 2 : count - section.recursion + 1;
  return waiters >= 1 && waiters <= kMaxCountedWaiters;
}

// Debug information that points back proves that the memory is a section. A section without it must have a live owner.
// Folklore: two neighbours in any doubly linked list point to each other as well. Real case: RtlWaitOnAddress of Wine
// keeps such a list on the stacks of the waiting threads. When a thread that waited for a section had a neighbour
// there, the neighbour passed for a second section, and so no section was shown. Remedy: the type, which is 0, where a
// list has an address; and a limit for the number of waiting threads. Tests: AwaitedSection.NeighboursInAList, and
// Locks.OfEachKindAreAsTheProgramSays, whose program has such a neighbour.
bool is_awaited(const MemoryReader& memory, std::uint64_t at, const Section& section, std::uint32_t waiter,
                bool owner_lives) {
  if (section.recursion < 1 || section.recursion > kMaxRecursion || !is_waited_for(section)) return false;
  if (section.owner == 0 || section.owner == waiter || section.owner > 0xFFFF'FFFF) return false;
  if (section.debug_info == kNoDebugInfo) return owner_lives;
  const auto debug = memory.read_value<SectionDebug>(section.debug_info);
  return debug && debug->type == kSectionType && debug->section == at;
}

// Folklore: since Windows 10, threads that load a DLL, begin or end while another thread does so wait for an event
// (LdrpDrainWorkQueue), so no lock is on their stacks. Real cases: JNA #1479, gperftools #812. Remedy: the function of
// the loader shows the wait, and the process environment block shows the lock. Tests: HeldLoaderLock.*, and
// LoaderLock.IsShownWithItsHolderAndWhoWaitsForIt.
bool is_of_loader(const Frame& frame) {
  return frame.name.starts_with("Ldr") || frame.name == "_LdrpInitialize";
}

bool named(const Frame& frame, std::span<const std::string_view> names) {
  const std::string_view name = frame.name;
  return std::ranges::find(names, name.substr(0, name.find(" [tail call]"))) != names.end();
}

std::optional<Lock> only(const std::map<std::uint64_t, Lock>& found) {
  if (found.size() != 1) return std::nullopt;
  return found.begin()->second;
}

class NativeLocks {
 public:
  NativeLocks(Snapshot& snapshot, Target& target) : snapshot_(snapshot), target_(target), waiting_(target) {
    for (const TargetThread& thread : target.threads()) {
      threads_.push_back(thread.os_id);
      const StackLimits stack = stack_limits(target.memory(), thread.teb);
      if (stack.base != 0) stacks_.push_back(stack);
      if (loader_lock_ == 0) loader_lock_ = loader_lock(target.memory(), thread.teb);
    }
    std::ranges::sort(threads_);
  }

  void add() {
    std::vector<LockReading> readings;
    std::size_t waiters = 0;
    for (const Thread& thread : snapshot_.threads) {
      const auto wait = native_wait_of(snapshot_, thread);
      if (!wait || ++waiters > kMaxWaiters) continue;
      if (auto lock = lock_of(thread, *wait)) readings.push_back({std::move(*lock), thread.os_id});
    }
    std::vector<Lock> awaited = consistent_locks(readings);
    for (Lock& lock : awaited) {
      const bool loader = lock.kind == LockKind::critical_section && lock.address == loader_lock_;
      if (loader) lock.type = kLoaderLock;
    }
    add_locks(snapshot_, std::move(awaited));
  }

 private:
  std::vector<std::uint64_t> words_of(const Thread& thread, const NativeWait& wait) {
    return waiting_.words_of(thread, wait.end, kMaxWaitBytes);
  }

  std::optional<Lock> read(const Thread& thread, const NativeWait& wait, std::span<const std::uint64_t> words) {
    target_.forget_memory();
    const MemoryReader& memory = target_.memory();
    if (wait.loader) return held_loader_lock(memory, loader_lock_, thread.os_id, target_.threads());
    return wait.kind == LockKind::critical_section ? awaited_section(memory, words, thread.os_id, threads_)
                                                   : awaited_srw_lock(memory, words, stacks_);
  }

  std::optional<Lock> lock_of(const Thread& thread, const NativeWait& wait) {
    const std::vector<std::uint64_t> before = words_of(thread, wait);
    if (before.empty()) return std::nullopt;
    const auto lock = read(thread, wait, before);
    if (!lock || words_of(thread, wait) != before || read(thread, wait, before) != lock) return std::nullopt;
    return lock;
  }

  Snapshot& snapshot_;
  Target& target_;
  WaitingThreads waiting_;
  std::vector<std::uint32_t> threads_;
  std::vector<StackLimits> stacks_;
  std::uint64_t loader_lock_ = 0;  // 0 if it is not known
};

}  // namespace

std::optional<NativeWait> native_wait_of(const Snapshot& snapshot, const Thread& thread) {
  const std::vector<StackFrame>& frames = thread.stack.frames;
  std::optional<NativeWait> wait;
  const std::string_view leaf = frames.empty() ? std::string_view() : frames.front().name;
  const bool waits = leaf.starts_with("NtWaitFor") || leaf.starts_with("ZwWaitFor");
  for (std::size_t i = 0; i < frames.size() && i < kMaxWaitFrames; ++i) {
    const StackFrame& frame = frames[i];
    if (frame.kind != FrameKind::native || is_guess(frame.trust)) break;
    if (frame.module == Frame::kNone) continue;  // code of Wine's system calls
    const std::string image = ascii_lower(module_name(snapshot.modules[static_cast<std::size_t>(frame.module)]));
    if (image != "ntdll.dll") break;
    const bool section = named(frame, kSection), srw_lock = named(frame, kSrwLock);
    const bool loader = !wait && waits && is_of_loader(frame);
    if (!section && !srw_lock && !loader) continue;
    wait = {srw_lock ? LockKind::srw_lock : LockKind::critical_section, frame.stack_pointer + kMaxWaitBytes, loader};
    if (i + 1 < frames.size() && frames[i + 1].stack_pointer != 0) wait->end = frames[i + 1].stack_pointer + kAboveReturn;
  }
  return wait;
}

std::optional<Lock> awaited_section(const MemoryReader& memory, std::span<const std::uint64_t> words,
                                    std::uint32_t waiter, std::span<const std::uint32_t> threads) {
  std::map<std::uint64_t, Lock> found;
  for (const std::uint64_t word : words) {
    for (const std::uint64_t field : kFields) {
      const std::uint64_t at = word - field;
      if (at % 8 != 0 || found.contains(at)) continue;
      const auto section = memory.read_value<Section>(at);
      if (!section) continue;
      const auto owner = static_cast<std::uint32_t>(section->owner);
      const bool owner_lives = std::ranges::binary_search(threads, owner);
      if (!is_awaited(memory, at, *section, waiter, owner_lives)) continue;
      found[at] = {.kind = LockKind::critical_section,
                   .address = at,
                   .owner = owner_lives ? owner : 0,
                   .held = true,
                   .recursion = static_cast<std::uint32_t>(section->recursion)};
    }
  }
  return only(found);
}

std::optional<Lock> awaited_srw_lock(const MemoryReader& memory, std::span<const std::uint64_t> words,
                                     std::span<const StackLimits> stacks) {
  constexpr std::uint64_t kHeld = 1, kWaitedFor = 2, kFlags = 0xF;
  std::map<std::uint64_t, Lock> found;
  for (const std::uint64_t at : words) {
    if (at % 8 != 0) continue;
    // A word of a stack that leads to a stack belongs to the list of waiting threads.
    const auto on_stack = [&](std::uint64_t address) {
      return std::ranges::any_of(stacks, [&](const StackLimits& stack) { return stack.contains(address); });
    };
    const auto value = memory.read_value<std::uint64_t>(at);
    if (!value || (*value & kHeld) == 0 || (*value & kWaitedFor) == 0 || !on_stack(*value & ~kFlags)) continue;
    found[at] = {.kind = LockKind::srw_lock, .address = at, .held = true};
  }
  return only(found);
}

std::optional<Lock> held_loader_lock(const MemoryReader& memory, std::uint64_t section, std::uint32_t waiter,
                                     std::span<const TargetThread> threads) {
  const auto fields = section == 0 ? std::nullopt : memory.read_value<Section>(section);
  if (!fields) return std::nullopt;
  Lock lock{.kind = LockKind::critical_section, .address = section, .type = std::string(kLoaderLock), .held = true};
  const bool held = fields->recursion >= 1 && fields->recursion <= kMaxRecursion && fields->owner != waiter;
  const auto owner = std::ranges::find(threads, fields->owner, &TargetThread::os_id);
  if (held && owner != threads.end()) {
    lock.owner = owner->os_id;
    lock.recursion = static_cast<std::uint32_t>(fields->recursion);
    return lock;
  }
  for (const TargetThread& thread : threads) {
    if (!is_load_owner(memory, thread.teb)) continue;
    if (lock.owner != 0) return std::nullopt;
    lock.owner = thread.os_id;
  }
  if (lock.owner == 0 || lock.owner == waiter) return std::nullopt;
  return lock;
}

std::vector<Lock> consistent_locks(std::span<const LockReading> readings) {
  std::map<std::uint64_t, std::optional<Lock>> locks;  // no value if the lock has changed its owner
  for (const LockReading& reading : readings) {
    std::optional<Lock>& known = locks.try_emplace(reading.lock.address, reading.lock).first->second;
    if (!known) continue;
    if (known->kind != reading.lock.kind || known->owner != reading.lock.owner) {
      known.reset();
    } else {
      known->waiters.push_back({reading.waiter, false});
    }
  }
  std::vector<Lock> out;
  for (auto& [address, lock] : locks) {
    if (!lock) continue;
    std::ranges::sort(lock->waiters, {}, &LockWaiter::os_id);
    out.push_back(std::move(*lock));
  }
  return out;
}

bool has_native_waits(const Snapshot& snapshot) {
  return std::ranges::any_of(snapshot.threads, [&](const Thread& thread) {
    return native_wait_of(snapshot, thread).has_value();
  });
}

void add_native_locks(Snapshot& snapshot, Target& target) {
  if (has_native_waits(snapshot)) NativeLocks(snapshot, target).add();
}

}  // namespace mixwalk
