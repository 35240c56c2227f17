#include "walker/suspended/group_capture.h"

#include <algorithm>

namespace mixwalk {
namespace {

class GroupCapture {
 public:
  GroupCapture(ThreadGroup& group, std::span<GroupMember> members, std::span<std::byte> arena,
               const MemoryReader& stack) noexcept
      : group_(group), members_(members), arena_(arena), stack_(stack) {}

  void suspend_all(std::uint64_t suspending_ns) noexcept {
    const std::uint64_t begun = group_.now_ns();
    for (std::size_t i = 0; i < members_.size(); ++i) {
      GroupMember& member = members_[i];
      member.sample.clear();
      member.reading_ns = 0;
      const std::uint64_t started = group_.now_ns();
      const bool too_late = started - begun > suspending_ns;
      const Suspend result = too_late ? Suspend::not_now : group_.suspend(i);
      member.suspended = result == Suspend::done;
      member.suspended_ns = group_.now_ns();
      member.sample.stopping_ns = member.suspended_ns - started;
      if (result == Suspend::ending) member.sample.fault = CaptureFault::not_suspended;
      if (result == Suspend::not_now) mark_late(member.sample);
    }
  }

  void read_registers(std::size_t place) noexcept {
    GroupMember& member = members_[place];
    if (!member.suspended) return;
    // A resumed thread is not read, because this would only have to wait again until it stops.
    if (group_.overdue(place)) return mark_late(member.sample);
    const std::uint64_t started = group_.now_ns();
    const bool stopped = group_.read_registers(place, member.sample.context);
    member.reading_ns = group_.now_ns() - started;
    member.sample.stopping_ns += member.reading_ns;
    if (!stopped) {
      member.sample.fault = CaptureFault::not_suspended;
    } else if (group_.in_dispatch(place)) {
      member.sample.fault = CaptureFault::not_now;
    }
  }

  void copy(std::size_t place) noexcept {
    GroupMember& member = members_[place];
    RawSample& sample = member.sample;
    const StackLimits stack = group_.stack_limits(place);
    if (group_.overdue(place)) {
      mark_late(sample);
    } else if (!stack.contains(sample.context.rsp())) {
      sample.fault = CaptureFault::off_stack;
    } else if (take_buffer(sample, stack.base - sample.context.rsp())) {
      sample.stack.fill(stack_, sample.context.rsp(), stack.base);
      sample.unmoved = member.last != nullptr && member.last->is_at(sample.context, sample.stack);
    } else {
      sample.fault = CaptureFault::no_room;
    }
    // overdue() is asked last: copies that were made before the group was resumed are of frozen threads.
    if (group_.overdue(place)) mark_late(sample);
  }

  void resume(std::size_t place) noexcept {
    GroupMember& member = members_[place];
    if (!member.suspended) return;
    group_.resume(place);
    member.suspended = false;
    RawSample& sample = member.sample;
    // The supervisor resumes all threads, including those that were copied before.
    const std::uint64_t now = group_.now_ns(), last_frozen = group_.last_frozen_ns();
    const std::uint64_t ended = last_frozen != 0 ? std::min(now, last_frozen) : now;
    const std::uint64_t under_way = ended > member.suspended_ns ? ended - member.suspended_ns : 0;
    sample.frozen_ns = under_way > member.reading_ns ? under_way - member.reading_ns : 0;
  }

 private:
  static void mark_late(RawSample& sample) noexcept {
    sample.fault = CaptureFault::overdue;
    sample.overdue = true;
  }

  // The stacks follow each other in the arena. The first one gets the whole arena, and is cut if that is too small,
  // because no later moment has more room for it.
  bool take_buffer(RawSample& sample, std::uint64_t bytes) noexcept {
    constexpr std::size_t kAlignment = 16;  // StackCopy keeps the alignment of Rsp
    const std::uint64_t wanted = bytes + 2 * kAlignment;
    if (wanted > arena_.size() && used_) return false;
    const auto taken = static_cast<std::size_t>(std::min<std::uint64_t>(wanted, arena_.size()));
    sample.stack = StackCopy(arena_.first(taken));
    arena_ = arena_.subspan(taken / kAlignment * kAlignment);
    used_ = true;
    return true;
  }

  ThreadGroup& group_;
  std::span<GroupMember> members_;
  std::span<std::byte> arena_;  // the rest of the arena
  bool used_ = false;
  const MemoryReader& stack_;
};

}  // namespace

std::uint64_t capture_group(ThreadGroup& group, std::span<GroupMember> members, std::span<std::byte> arena,
                            const MemoryReader& stack, std::uint64_t suspending_ns) noexcept {
  GroupCapture capture(group, members, arena, stack);
  const std::uint64_t started = group.now_ns();
  group.begin();
  capture.suspend_all(suspending_ns);
  // All threads must have stopped before the first one is copied.
  for (std::size_t i = 0; i < members.size(); ++i) capture.read_registers(i);
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i].sample.fault == CaptureFault::none) capture.copy(i);
  }
  for (std::size_t i = 0; i < members.size(); ++i) capture.resume(i);
  group.end();
  return group.now_ns() - started;
}

}  // namespace mixwalk
