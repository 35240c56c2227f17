#pragma once

#include <windows.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "unmanaged/step/registers.h"
#include "unmanaged/win/image_notifications.h"
#include "unmanaged/win/image_unloads.h"
#include "walker/base/win/tick_clock.h"
#include "walker/profiler/module_name_filter.h"
#include "walker/profiler/pages.h"
#include "walker/profiler/thread_registry.h"
#include "walker/profiler/unload_gate.h"

namespace mixwalk {

// The state of a thread that had just loaded a native image: its registers and its stack, not walked yet.
struct ImageLoad {
  std::uint64_t time_ns = 0;  // TickClock
  std::uint32_t os_id = 0;
  ThreadRegistry::Glance thread;  // the thread may have ended when the agent reads this
  UnloadGate::Mark mark;          // this mark and image_mark: taken before the stack was copied
  std::uint64_t image_mark = 0;   // a mark of ImageUnloads
  Registers registers;
  std::uint64_t stack_end = 0;    // 0 if Rsp was not on the thread's own stack
  std::size_t stack_bytes = 0;    // how many bytes were copied, from Rsp on
  std::size_t name_units = 0;     // the length of the name in UTF-16 units
};

// The native images that this process loads, each with the stack of the thread that loads it. Images with managed code
// are left out, since the runtime reports those (ModuleLoadFinished). Not frozen-safe.
//
// The thread that loads an image holds the loader lock, so the notification only copies its stack. The notification
// allocates no memory, waits for no lock, and does not ask the CLR: the constructor allocates the memory, and when that
// memory is full, the load is counted as dropped. The agent's thread walks the copy later, like the copy of a frozen
// thread.
class ImageLoads final : ImageNotifications::Listener {
 public:
  // `wanted`: UTF-8, as in ModuleNameFilter; it is copied. `wanted_events` counts the loads that are wanted. The four
  // references must outlive this object. The constructor and the destructor must be called by a thread that may wait
  // for the loader lock. Throws std::bad_alloc.
  ImageLoads(std::string_view wanted, ThreadRegistry& registry, const UnloadGate& unload_gate,
             const ImageUnloads& unloads, std::atomic<std::uint64_t>& wanted_events);
  ~ImageLoads() = default;
  ImageLoads(const ImageLoads&) = delete;
  ImageLoads& operator=(const ImageLoads&) = delete;

  // Loads are copied and counted from begin() to stop(). Neither of these two functions waits.
  void begin() noexcept { taking_ = true; }
  void stop() noexcept { taking_ = false; }
  std::uint64_t dropped() const noexcept { return dropped_; }

  // The oldest load, or null if there is none at the moment. It stays in the memory until pop(), so at most one load is
  // being read.
  const ImageLoad* front() noexcept;
  std::wstring_view name(const ImageLoad& load) const noexcept;
  std::span<const std::byte> stack(const ImageLoad& load) const noexcept;
  void pop() noexcept;

 private:
  // Room for some two hundred stacks of ordinary depth. The agent's thread empties the memory every 10 ms.
  static constexpr std::size_t kBytes = 8 << 20;
  // The length of the longest file name that Windows has.
  static constexpr std::size_t kMaxNameUnits = 255;
  // The limit for one stack: more than that of an ordinary .NET thread. Other threads wait for the loader lock while a
  // stack is copied.
  static constexpr std::size_t kMaxStackBytes = 2 << 20;
  static constexpr std::size_t kAlignment = 8;

  // The content of the memory, in this order: an ImageLoad, its name, its stack.
  struct Slot {
    std::size_t bytes = 0;  // of this slot with its name and its stack
    bool skipped = false;   // true for the rest of the memory if it was too short for the next load
    ImageLoad load;
  };
  void loaded(const ImageNotification& image) noexcept override;
  bool copy_this_thread(std::wstring_view name) noexcept;
  Slot* make_room(std::size_t bytes) noexcept;
  static std::size_t name_bytes(std::size_t units) noexcept;
  std::byte* at(std::uint64_t position) const noexcept {
    return memory_.all().data() + position % kBytes;
  }

  const ModuleNameFilter filter_;
  ThreadRegistry& registry_;
  const UnloadGate& unload_gate_;
  const ImageUnloads& unloads_;
  std::atomic<std::uint64_t>& wanted_events_;
  const TickClock clock_;
  const Pages<std::byte> memory_{kBytes};
  // Positions in the memory. They are counted on without wrapping. The loads between the two positions are waiting.
  std::atomic<std::uint64_t> begin_{0}, end_{0};
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<bool> taking_{false};
  std::atomic_flag busy_;
  // This is the last member, so it is destroyed before the members that the loader's calls write to.
  ImageNotifications notifications_;
};

}  // namespace mixwalk
