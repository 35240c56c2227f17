#include "walker/target/suspension/outside_group.h"

#include <algorithm>
#include <system_error>

namespace mixwalk {
namespace {

UniqueHandle make_event() {
  UniqueHandle event(CreateEventW(nullptr, TRUE, FALSE, nullptr));
  if (!event) throw std::system_error(static_cast<int>(GetLastError()), std::system_category());
  return event;
}

}  // namespace

OutsideGroup::OutsideGroup(std::span<OutsideThread* const> threads, std::uint32_t deadline_ms)
    : threads_(threads),
      suspended_(std::make_unique<std::atomic<bool>[]>(threads.size())),
      begun_(make_event()),
      ended_(make_event()),
      watcher_([this, deadline_ms] { watch(deadline_ms); }) {}

OutsideGroup::~OutsideGroup() {
  // The order matters: if the group was never frozen, watch() finds the end right after the beginning, and does not
  // resume the threads.
  SetEvent(ended_.get());
  SetEvent(begun_.get());
  watcher_.join();
}

Suspend OutsideGroup::suspend(std::size_t place) noexcept {
  if (overdue(place)) return Suspend::not_now;
  if (const Suspend result = threads_[place]->suspend(); result != Suspend::done) return result;
  // Either the watching thread finds this entry, or overdue() is true here, because both operations have one order.
  suspended_[place].store(true);
  if (!overdue(place)) return Suspend::done;
  resume(place);
  return Suspend::not_now;
}

void OutsideGroup::resume(std::size_t place) noexcept {
  if (suspended_[place].exchange(false)) threads_[place]->resume();
}

void OutsideGroup::watch(std::uint32_t deadline_ms) noexcept {
  WaitForSingleObject(begun_.get(), INFINITE);
  if (WaitForSingleObject(ended_.get(), deadline_ms) == WAIT_OBJECT_0) return;
  last_frozen_ns_.store(std::max<std::uint64_t>(now_ns(), 1));
  for (std::size_t place = 0; place < threads_.size(); ++place) resume(place);
}

}  // namespace mixwalk
