#include "walker/report/dump_data.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "walker/hang/crash_place.h"
#include "walker/hang/finding_texts.h"
#include "walker/hang/finding_words.h"
#include "walker/hang/frame_names.h"
#include "walker/hang/standings.h"
#include "walker/hang/thread_roles.h"
#include "walker/hang/waits.h"
#include "walker/model/crash_words.h"
#include "walker/model/lock_words.h"
#include "walker/shown/async_frames.h"
#include "walker/shown/runtime_frames.h"
#include "walker/shown/words.h"

namespace mixwalk {
namespace {

// The most kinds of chains of tasks in the page.
constexpr std::size_t kMaxPageTaskGroups = 1000;

class DumpWriter {
 public:
  DumpWriter(const Snapshot& snapshot, const FrameFilter& filter, ReportTables& tables, JsonWriter& json)
      : snapshot_(snapshot), filter_(filter), stacks_(snapshot, filter),
        leaves_(tables.add(stacks_, stacks_.whole())), flame_leaves_(tables.add(stacks_, stacks_.folded())),
        runtime_frames_(snapshot), async_frames_(snapshot),
        names_(snapshot), roles_(thread_roles(snapshot)), json_(json) {}

  void write() {
    json_.begin_object();
    json_.field("time_ms", snapshot_.unix_time_ms);
    json_.field("way", enum_name(snapshot_.capture));
    json_.field("way_reason", snapshot_.capture_reason);
    if (snapshot_.capture == CaptureMethod::outside) json_.field("way_words", outside_sentence(snapshot_));
    json_.field("unasked", snapshot_.unasked);
    json_.field("managed_only", filter_.managed_only);
    json_.field("depth", filter_.depth.value_or(0));
    json_.array("moments", snapshot_.moments, [this](const Moment& moment) { json_.value(moment.frozen_ns); });
    if (snapshot_.crash) crash(*snapshot_.crash);
    std::size_t place = 0;
    json_.array("threads", snapshot_.threads, [&](const Thread& each) { thread(each, place++); });
    json_.array("locks", snapshot_.locks, [this](const Lock& each) { lock(each); });
    json_.field("locks_missing", snapshot_.locks_missing);
    tasks();
    json_.end_object();
  }

 private:
  // Writes what is known of asynchronous work besides that of threads. Nothing if there is none.
  void tasks() {
    if (!snapshot_.tasks_missing.empty()) json_.field("tasks_missing", snapshot_.tasks_missing);
    if (const std::string pool = pool_sentence(snapshot_.pool); !pool.empty()) json_.field("pool", pool);
    const std::vector<TaskGroup> groups = async_frames_.groups();
    if (groups.empty()) return;
    std::size_t chains = 0;
    for (const TaskGroup& group : groups) chains += group.count;
    json_.field("chains", chains);
    const std::size_t shown = std::min(groups.size(), kMaxPageTaskGroups);
    json_.objects("tasks", std::span(groups).first(shown), [this](const TaskGroup& group) {
      json_.field("count", group.count);
      json_.array("async", async_frames_.of(group.first), [this](const AsyncFrame& each) { async_frame(each); });
    });
    json_.field("groups", groups.size());
  }

  // Writes a line about a task: [depth, whether it says that lines are missing, words].
  void async_frame(const AsyncFrame& frame) {
    json_.begin_array();
    json_.value(frame.depth);
    json_.value(frame.relation == AsyncFrame::Relation::cut);
    json_.value(line_of(frame));
    json_.end_array();
  }

  void crash(const Crash& crash) {
    json_.key("crash");
    json_.begin_object();
    const FindingText text = crash_text(crash);
    json_.field("title", text.title);
    json_.values("details", text.details);
    json_.field("thread", crash.thread);
    const FrameNames names(snapshot_);
    const CrashPlace place = crash_place(names);
    std::vector<std::uint32_t> frames;
    if (place.thread != nullptr && !filter_.managed_only) {
      const std::uint32_t first = place.program != kNoFrame ? place.program : place.frame;
      frames = significant_frames(names, place.thread->stack.frames, first, kFindingFrames);
      if (place.frame != kNoFrame && place.frame != first) frames.insert(frames.begin(), place.frame);
    }
    json_.values("frames", frames);
    json_.end_object();
  }

  void thread(const Thread& thread, std::size_t index) {
    const bool has_stack = stacks_.has_stack(index);
    const auto leaf = [&](const std::vector<std::uint32_t>& leaves) {
      return has_stack ? std::int64_t{leaves[index]} : ReportTables::kNoStack;
    };
    json_.begin_object();
    json_.field("id", thread.os_id);
    json_.field("name", thread.name);
    if (const std::string head = head_words(roles_[index], thread.traits); !head.empty()) json_.field("role", head);
    json_.field("managed", thread.clr_id != 0);
    if (!thread.skipped.empty()) json_.field("skipped", thread.skipped);
    json_.field("leaf", leaf(leaves_));
    json_.field("flame", leaf(flame_leaves_));  // of the flame graph, in which the runtime's own frames are folded
    json_.field("state", enum_name(thread.stack.completeness()));
    json_.field("standing", static_cast<unsigned>(standing_of(names_, thread)));
    if (const auto why = open_runs(thread.stack); !why.empty()) {
      json_.array("why", why, [this](const std::string& each) { json_.value(each); });
    }
    if (const auto not_asked = sentence_of_refusal(thread.stack.refusal); !not_asked.empty()) {
      json_.field("copied", not_asked);
    }
    if (thread.moment != 0) json_.field("moment", thread.moment);
    if (thread.created != 0) json_.field("created", thread.created);
    if (thread.cpu) json_.field("cpu", *thread.cpu);
    if (const Wait wait = wait_of(names_, thread); wait.state != WaitState::runs && !wait.words.empty()) {
      json_.field("wait", wait.words);
    }
    std::vector<std::string> handles;
    for (const HandledException& exception : thread.handles) {
      for (std::string& line : handled_words(exception)) handles.push_back(std::move(line));
    }
    if (!handles.empty()) json_.values("handles", handles);
    if (const auto frames = async_frames_.of(thread); !frames.empty()) {
      json_.array("async", frames, [this](const AsyncFrame& each) { async_frame(each); });
    }
    if (!filter_.managed_only) {
      folds(thread.stack);
      marks(thread.stack);
    }
    json_.end_object();
  }

  // Writes the folded frames of the runtime itself: [first, count, role].
  void folds(const Stack& stack) {
    if (filter_.all) return;
    auto folded = runtime_frames_.of(stack);
    const std::size_t shown = std::min<std::size_t>(filter_.depth.value_or(stack.frames.size()), stack.frames.size());
    std::erase_if(folded, [&](const FoldedFrames& each) { return each.first + each.count > shown; });
    if (folded.empty()) return;
    json_.array("folds", folded, [this](const FoldedFrames& each) {
      json_.begin_array();
      json_.value(each.first);
      json_.value(each.count);
      json_.value(each.role);
      json_.end_array();
    });
  }

  // Writes the problems of frames: [index, words].
  void marks(const Stack& stack) {
    std::vector<std::size_t> marked;
    for (std::size_t i = 0; i < stack.frames.size(); ++i) {
      if (!sentence(stack.frames[i].call).empty()) marked.push_back(i);
    }
    if (marked.empty()) return;
    json_.array("marks", marked, [&](std::size_t i) {
      json_.begin_array();
      json_.value(i);
      json_.value(sentence(stack.frames[i].call));
      json_.end_array();
    });
  }

  void lock(const Lock& lock) {
    json_.begin_object();
    json_.field("kind", words_of(lock));
    json_.field("address", lock.address == 0 ? std::string() : fmt::format("{:#x}", lock.address));
    json_.field("type", lock.is_loader_lock() ? std::string_view() : std::string_view(lock.type));
    json_.field("owner_words", owner_words(lock.kind));
    json_.field("holder_words", holder_words(lock.kind));
    json_.field("owner", lock.owner);
    json_.field("held", lock.held);
    if (lock.owner == 0) {
      if (const std::string holders = async_frames_.holder_words(lock); !holders.empty()) json_.field("by", holders);
      if (!lock.sharers.empty()) json_.values("sharers", lock.sharers);
    }
    json_.field("recursion", lock.recursion);
    json_.array("waiters", lock.waiters, [this](const LockWaiter& waiter) {
      json_.begin_array();
      json_.value(waiter.os_id);
      json_.value(waiter.pulse);
      json_.end_array();
    });
    json_.end_object();
  }

  const Snapshot& snapshot_;
  const FrameFilter& filter_;
  const ShownStacks stacks_;
  const std::vector<std::uint32_t> leaves_, flame_leaves_;  // for each thread
  const RuntimeFrames runtime_frames_;
  const AsyncFrames async_frames_;
  const FrameNames names_;
  const std::vector<ThreadRoles> roles_;  // by thread
  JsonWriter& json_;
};

}  // namespace

void write_dump_data(const Snapshot& snapshot, const FrameFilter& filter, ReportTables& tables, JsonWriter& json) {
  DumpWriter(snapshot, filter, tables, json).write();
}

}  // namespace mixwalk
