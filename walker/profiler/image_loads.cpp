#include "walker/profiler/image_loads.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <type_traits>

#include "unmanaged/win/context.h"
#include "unmanaged/win/live_modules.h"
#include "unmanaged/win/plain_memory.h"
#include "walker/profiler/entry_barrier.h"

namespace mixwalk {
namespace {

std::size_t round_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

ImageLoads::ImageLoads(std::string_view wanted, ThreadRegistry& registry,
                       const UnloadGate& unload_gate, const ImageUnloads& unloads,
                       std::atomic<std::uint64_t>& wanted_events)
    : filter_(wanted),
      registry_(registry),
      unload_gate_(unload_gate),
      unloads_(unloads),
      wanted_events_(wanted_events),
      notifications_(*this) {
  static_assert(std::is_trivially_destructible_v<Slot> && alignof(Slot) == kAlignment);
  static_assert(offsetof(Slot, load) + sizeof(ImageLoad) == sizeof(Slot), "its name comes next");
  if (memory_.empty()) throw std::bad_alloc();
}

std::size_t ImageLoads::name_bytes(std::size_t units) noexcept {
  return round_up(units * sizeof(wchar_t), kAlignment);
}

void ImageLoads::loaded(const ImageNotification& image) noexcept {
  if (!taking_) return;
  const LastErrorKept last_error;
  if (!filter_.matches(image.file_name) || has_managed_header(image.base)) return;
  ++wanted_events_;
  // The loader makes one call at a time. This flag ensures the same if a later Windows does not.
  if (busy_.test_and_set(std::memory_order_acquire)) {
    ++dropped_;
    return;
  }
  if (!copy_this_thread(image.file_name.substr(0, kMaxNameUnits))) ++dropped_;
  busy_.clear(std::memory_order_release);
}

// Returns false if there is no room.
bool ImageLoads::copy_this_thread(std::wstring_view name) noexcept {
  ImageLoad load;
  load.time_ns = clock_.now_ns();
  load.os_id = GetCurrentThreadId();
  registry_.glance(load.os_id, load.thread);
  load.mark = unload_gate_.mark();
  load.image_mark = unloads_.mark();
  load.name_units = name.size();
  CONTEXT context;
  RtlCaptureContext(&context);
  load.registers = registers_of(context);
  ULONG_PTR limit = 0, end = 0;
  GetCurrentThreadStackLimits(&limit, &end);  // the limits in the TEB
  std::size_t wanted = 0;
  if (context.Rsp >= limit && context.Rsp < end) {
    load.stack_end = end;
    wanted = std::min<std::size_t>(end - context.Rsp, kMaxStackBytes);
  }
  const std::size_t head = sizeof(Slot) + name_bytes(name.size());
  Slot* const slot = make_room(round_up(head + wanted, kAlignment));
  if (slot == nullptr) return false;
  auto* const bytes = reinterpret_cast<std::byte*>(slot);
  if (!name.empty()) std::memcpy(bytes + sizeof(Slot), name.data(), name.size() * sizeof(wchar_t));
  load.stack_bytes = PlainMemory().read_up_to(context.Rsp, bytes + head, wanted);
  slot->load = load;
  end_.store(end_.load(std::memory_order_relaxed) + slot->bytes, std::memory_order_release);
  return true;
}

// Makes room for that many contiguous bytes, at end_. Returns null if there is none.
ImageLoads::Slot* ImageLoads::make_room(std::size_t bytes) noexcept {
  std::uint64_t end = end_.load(std::memory_order_relaxed);
  const std::size_t left = kBytes - static_cast<std::size_t>(end % kBytes);
  const std::size_t skipped = left < bytes ? left : 0;
  const std::uint64_t waiting = end - begin_.load(std::memory_order_acquire);
  if (bytes > kBytes || waiting + skipped + bytes > kBytes) return nullptr;
  if (skipped != 0) {
    // A short rest has no room for a Slot, so front() recognises it by its length and skips it.
    if (skipped >= sizeof(Slot)) {
      new (at(end)) Slot{.bytes = skipped, .skipped = true, .load = {}};
    }
    end += skipped;
    end_.store(end, std::memory_order_release);
  }
  return new (at(end)) Slot{.bytes = bytes, .skipped = false, .load = {}};
}

const ImageLoad* ImageLoads::front() noexcept {
  while (true) {
    const std::uint64_t begin = begin_.load(std::memory_order_relaxed);
    if (begin == end_.load(std::memory_order_acquire)) return nullptr;
    const std::size_t left = kBytes - static_cast<std::size_t>(begin % kBytes);
    const auto* const slot = reinterpret_cast<const Slot*>(at(begin));
    if (left >= sizeof(Slot) && !slot->skipped) return &slot->load;
    begin_.store(begin + left, std::memory_order_release);
  }
}

std::wstring_view ImageLoads::name(const ImageLoad& load) const noexcept {
  return {reinterpret_cast<const wchar_t*>(&load + 1), load.name_units};
}

std::span<const std::byte> ImageLoads::stack(const ImageLoad& load) const noexcept {
  return {reinterpret_cast<const std::byte*>(&load + 1) + name_bytes(load.name_units),
          load.stack_bytes};
}

void ImageLoads::pop() noexcept {
  const std::uint64_t begin = begin_.load(std::memory_order_relaxed);
  const auto* const slot = reinterpret_cast<const Slot*>(at(begin));
  begin_.store(begin + slot->bytes, std::memory_order_release);
}

}  // namespace mixwalk
