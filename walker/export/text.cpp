#include "walker/export/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "symbols/demangle/managed_name.h"
#include "walker/base/count_words.h"
#include "walker/base/printable.h"
#include "walker/export/text_styles.h"
#include "walker/hang/crash_place.h"
#include "walker/hang/frame_names.h"
#include "walker/hang/standings.h"
#include "walker/hang/thread_roles.h"
#include "walker/hang/waits.h"
#include "walker/model/crash_words.h"
#include "walker/model/lock_words.h"
#include "walker/model/thread_locks.h"
#include "walker/shown/async_frames.h"
#include "walker/shown/frame_label.h"
#include "walker/shown/frame_selection.h"
#include "walker/shown/repeated_frames.h"
#include "walker/shown/runtime_frames.h"
#include "walker/shown/utc_text.h"
#include "walker/shown/words.h"

namespace mixwalk {
namespace {

constexpr std::string_view kManaged = kCyan, kStub = "\x1b[35m", kGap = kRed, kLock = "\x1b[33m", kAsync = "\x1b[32m";

constexpr LineLimits kLimits{.names = kMaxTextNameBytes, .files = kMaxTextNameBytes};

std::string bounded(std::string_view text) { return printable(text, kMaxTextNameBytes); }

std::string in_quotes(std::string_view name) { return quoted_name(name, kMaxTextNameBytes); }

class DumpTextWriter {
 public:
  DumpTextWriter(const Snapshot& snapshot, const ShowOptions& options)
      : snapshot_(snapshot), options_(options), runtime_frames_(snapshot), async_frames_(snapshot),
        names_(snapshot), roles_(thread_roles(snapshot)) {}

  // The crash because of which the dump was written: what happened, where, and the frame of the program.
  std::string crash() const {
    if (!snapshot_.crash) return {};
    const Crash& crash = *snapshot_.crash;
    std::string text = fmt::format("{}{}crash{}: {}\n", paint(kBold), paint(kGap), paint(kReset), crash_words(crash));
    // What the program or its exception says stands first, and the rest behind the place.
    const std::vector<std::string> details = crash_details(crash);
    if (!details.empty()) text += "  " + bounded(details.front()) + "\n";
    text += fmt::format("  thread {:#x}", crash.thread);
    const CrashPlace place = crash_place(names_);
    if (place.thread != nullptr && !place.thread->name.empty()) text += " " + in_quotes(place.thread->name);
    text += " at ";
    text += place.frame != kNoFrame ? label(place.thread->stack.frames[place.frame]) : code_label(crash.address);
    text += '\n';
    if (place.program != kNoFrame && place.program != place.frame) {
      text += "  called from " + label(place.thread->stack.frames[place.program]) + "\n";
    }
    for (std::size_t i = 1; i < details.size(); ++i) text += "  " + bounded(details[i]) + "\n";
    return text + '\n';
  }

  bool is_crashed(const Thread& thread) const { return snapshot_.crash && snapshot_.crash->thread == thread.os_id; }

  std::string header() const {
    const Process& process = snapshot_.process;
    std::string text =
        fmt::format("{}process {}{}  {}  {}  {}  engine {}  {}\n", paint(kBold), process.id, paint(kReset),
                    bounded(process.path) + (process.host.empty() ? "" : "  on " + bounded(process.host)),
                    bounded(runtime_text(snapshot_.runtime)), utc_text(snapshot_.unix_time_ms),
                    enum_name(snapshot_.engine), count_words(snapshot_.threads.size(), "thread"));
    text += moments() + way();
    const FrameFilter& filter = options_.filter;
    if (filter.managed_only) text += "only managed frames are shown\n";
    if (filter.depth) {
      text += fmt::format("no more than {} of each stack\n", count_words(*filter.depth, "frame"));
    }
    return text;
  }

  std::string thread(const Thread& thread) const {
    std::string text = "\n" + thread_line(thread) + "\n" + wait_lines(thread) + handled_lines(thread);
    const FrameSelection selection = select_frames(options_.filter, thread.stack);
    const auto folded = options_.filter.all ? std::vector<FoldedFrames>() : runtime_frames_.of(thread.stack);
    auto fold = folded.begin();
    const auto repeats = options_.filter.all ? std::vector<RepeatedFrames>()
                                             : repeated_frames(thread.stack, selection.frames);
    auto repeat = repeats.begin();
    for (auto at = selection.frames.begin(); at != selection.frames.end();) {
      while (repeat != repeats.end() && at - selection.frames.begin() >= repeat->end()) ++repeat;
      if (repeat != repeats.end() && at - selection.frames.begin() >= repeat->first) {
        const std::string what =
            repeat->period == 1 ? "frame above repeats" : fmt::format("{} frames above repeat", repeat->period);
        text += fmt::format("  {}… the {} {} more times{}\n", paint(kDim), what, repeat->times, paint(kReset));
        at = selection.frames.begin() + repeat->end();
        continue;
      }
      while (fold != folded.end() && fold->first < *at) ++fold;
      if (fold != folded.end() && fold->first == *at) {
        const auto end = std::lower_bound(at, selection.frames.end(), fold->first + fold->count);
        text += folded_line(thread.stack, *fold, *at, *(end - 1));
        at = end;
        continue;
      }
      text += frame_line(thread.stack, *at) + call_line(thread.stack.frames[*at]);
      ++at;
    }
    if (selection.beyond_depth != 0) {
      text += fmt::format("  {}… {}{}\n", paint(kDim),
                          count_words(selection.beyond_depth, "more frame"), paint(kReset));
    }
    for (const AsyncFrame& frame : async_frames_.of(thread)) text += async_line(frame, "  ");
    return text;
  }

  // The tasks that are below no thread: chains that are alike once, with their count.
  std::string tasks() const {
    const std::vector<TaskGroup> groups = async_frames_.groups();
    if (groups.empty()) return {};
    std::size_t chains = 0, left_out = 0;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      chains += groups[i].count;
      if (i >= kMaxTextTaskGroups) left_out += groups[i].count;
    }
    // Threads that are left out may wait for these tasks.
    std::string text = fmt::format("\n{}{} of tasks that {} waits for{}\n", paint(kBold), count_words(chains, "chain"),
                                   snapshot_.omissions.threads ? "none of these threads" : "no thread", paint(kReset));
    for (std::size_t i = 0; i < std::min(groups.size(), kMaxTextTaskGroups); ++i) {
      text += fmt::format("  {}{}{}\n", paint(kBold), count_words(groups[i].count, "chain"), paint(kReset));
      for (const AsyncFrame& frame : async_frames_.of(groups[i].first)) text += async_line(frame, "  ");
    }
    if (left_out != 0) {
      text += fmt::format("  {}… {} of {} other kinds{}\n", paint(kDim), count_words(left_out, "more chain"),
                          groups.size() - kMaxTextTaskGroups, paint(kReset));
    }
    return text;
  }

  std::string footer() const {
    StandingSums standings;
    std::size_t whole = 0, guessed = 0, managed = 0, skipped = 0, refused = 0;
    for (const Thread& thread : snapshot_.threads) {
      whole += thread.stack.whole();
      guessed += thread.stack.completeness() == Completeness::guessed;
      managed += thread.clr_id != 0;
      skipped += !thread.skipped.empty();
      standings.add(standing_of(names_, thread), 1);
      // A refusal is normal for a thread without managed frames.
      refused += thread.stack.refusal != 0 && count_frames(thread.stack).managed != 0;
    }
    std::string text = fmt::format("\n{}: {} managed, {} with a whole stack",
                                   count_words(snapshot_.threads.size(), "thread"), managed, whole);
    if (guessed != 0) text += fmt::format(", {} with guessed frames", guessed);
    if (skipped != 0) text += fmt::format(", {} skipped", skipped);
    if (refused != 0) text += fmt::format("; {} walked from the copy instead", refused);
    if (const std::string sentence = standing_sentence(standings); !sentence.empty()) text += "; " + sentence;
    return text + "\n";
  }

 private:
  // How the process was read, if that was not from inside.
  std::string way() const {
    std::string text;
    if (snapshot_.capture == CaptureMethod::outside) {
      text = "from outside: " + std::string(outside_sentence(snapshot_));
      if (!snapshot_.capture_reason.empty()) text += " (" + bounded(snapshot_.capture_reason) + ")";
      text += '\n';
    }
    // The runtimes before .NET 9 have no contracts, so there the library is what answers.
    constexpr std::uint16_t kFirstWithContracts = 9;
    if (snapshot_.answers.by == RuntimeSource::debugging_library && snapshot_.runtime.major >= kFirstWithContracts) {
      text += bounded(sentence(snapshot_.answers)) + "\n";
    }
    if (!snapshot_.unasked.empty()) text += "managed frames are missing: " + bounded(snapshot_.unasked) + "\n";
    if (!snapshot_.locks_missing.empty() && snapshot_.locks_missing != snapshot_.unasked) {
      text += "locks may be missing: " + bounded(snapshot_.locks_missing) + "\n";
    }
    if (!snapshot_.tasks_missing.empty() && snapshot_.tasks_missing != snapshot_.unasked &&
        snapshot_.tasks_missing != snapshot_.locks_missing) {
      text += "tasks may be missing: " + bounded(snapshot_.tasks_missing) + "\n";
    }
    if (const std::string pool = pool_sentence(snapshot_.pool); !pool.empty()) text += "thread pool: " + pool + "\n";
    for (std::size_t i = 0; i < std::min(snapshot_.pool.items.size(), kMaxTextPoolItems); ++i) {
      const ThreadPoolState::Item& item = snapshot_.pool.items[i];
      text += fmt::format("  {} {}\n", i == 0 ? "first in its queue:" : "then:",
                          (item.count > 1 ? fmt::format("{} × ", item.count) : "") +
                              (item.method.empty() ? "an unknown method" : bounded(managed_name(item.method))));
    }
    return text;
  }

  // How long the process was frozen, and for which threads.
  std::string moments() const {
    if (snapshot_.moments.empty()) return {};
    std::vector<std::size_t> threads(snapshot_.moments.size() + 1);
    for (const Thread& thread : snapshot_.threads) {
      threads[thread.moment] += thread.skipped.empty();
    }
    const auto frozen = [&](std::size_t moment) {
      const std::string who = threads[moment] != 0 ? count_words(threads[moment], "thread") + ", which stood"
                                                   : "which no thread has a stack; threads stood";
      return fmt::format("{} still for {:.1f} ms", who,
                         static_cast<double>(snapshot_.moments[moment - 1].frozen_ns) / 1e6);
    };
    if (threads.size() == 2 && threads[0] == 0) return "one moment of " + frozen(1) + "\n";
    std::string text = fmt::format("{}:", count_words(snapshot_.moments.size(), "moment"));
    for (std::size_t i = 1; i < threads.size(); ++i) {
      text += fmt::format("{} #{} of {}", i == 1 ? "" : ";", i, frozen(i));
    }
    if (threads[0] != 0) text += fmt::format("; {} frozen alone", count_words(threads[0], "thread"));
    return text + "\n";
  }

  std::string_view paint(std::string_view colour) const {
    return options_.colour ? colour : std::string_view();
  }

  std::string thread_line(const Thread& thread) const {
    std::string text = fmt::format("{}Thread {:#x}", paint(kBold), thread.os_id);
    if (!thread.name.empty()) text += " " + in_quotes(thread.name);
    const ThreadRoles roles = roles_[static_cast<std::size_t>(&thread - snapshot_.threads.data())];
    if (const std::string head = head_words(roles, thread.traits); !head.empty()) text += " (" + head + ")";
    text += fmt::format("{}  {}{}  ", paint(kReset), is_crashed(thread) ? "crashed, " : "",
                        thread.clr_id != 0 ? "managed" : "native only");
    if (!thread.skipped.empty()) return text + "skipped: " + bounded(thread.skipped);
    const FrameCounts counts = count_frames(thread.stack);
    const std::size_t runs = thread.stack.runs().size();
    text += fmt::format("{}: {}, {} managed, {} native in {}",
                        enum_name(thread.stack.completeness()),
                        count_words(counts.frames(), "frame"), counts.managed, counts.native,
                        count_words(runs, "run"));
    if (counts.inlined != 0) text += fmt::format(", {} inlined", counts.inlined);
    if (counts.stubs != 0) text += ", " + count_words(counts.stubs, "stub");
    if (counts.guessed != 0) text += fmt::format(", {} guessed", counts.guessed);
    if (thread.stack.frames.empty()) text += "; nothing was found";
    const std::string_view not_asked = sentence_of_refusal(thread.stack.refusal);
    if (!not_asked.empty()) text += fmt::format("; walked from the copy: {}", not_asked);
    if (snapshot_.moments.size() > 1) {
      text += thread.moment == 0 ? "; frozen alone" : fmt::format("; moment {}", thread.moment);
    }
    for (const std::string& why : open_runs(thread.stack)) text += "; " + why;
    return text;
  }

  // The place of an address that is in no frame.
  std::string code_label(std::uint64_t address) const {
    StackFrame frame;
    frame.address = address;
    for (std::size_t i = 0; i < snapshot_.modules.size(); ++i) {
      const Module& module = snapshot_.modules[i];
      if (address - module.base < module.size) frame.module = static_cast<std::int32_t>(i);
    }
    return label(frame);
  }

  // What the thread waits for, by its lock or else by its frames, and the locks that it holds.
  std::string wait_lines(const Thread& thread) const {
    std::string text;
    const auto add = [&](const std::string& line) {
      text += fmt::format("  {}{}{}\n", paint(kLock), line, paint(kReset));
    };
    const auto [lock, pulse] = lock_waited_for_by(snapshot_, thread.os_id);
    const Wait wait = wait_of(names_, thread);
    const bool said = wait.state != WaitState::runs && !wait.words.empty() && !is_crashed(thread);
    // Tasks, semaphores and events of .NET wait to be pulsed at an object of their own, which means nothing to a
    // reader.
    const std::vector<StackFrame>& frames = thread.stack.frames;
    const bool by_method = wait.frame < frames.size() && frames[wait.frame].kind == FrameKind::managed;
    const bool own_object = pulse && said && by_method && wait.rule != "monitor-wait";
    if (lock != nullptr && !own_object) {
      add((pulse ? "waits to be pulsed: " : "waits for ") + lock_label(*lock) + held_by(*lock));
    } else if (said) {
      add((wait.state == WaitState::idle ? "idle: " : "") + bounded(wait.words));
    }
    const std::vector<const Lock*> held = locks_held_by(snapshot_, thread.os_id);
    for (std::size_t i = 0; i < held.size() && i < kMaxTextLocks; ++i) {
      add(holder_text(held[i]->kind, lock_label(*held[i])) + entered(*held[i]) + waiting(*held[i]));
    }
    if (held.size() > kMaxTextLocks) {
      add("holds " + count_words(held.size() - kMaxTextLocks, "more lock"));
    }
    return text;
  }

  // The exceptions that the thread handles, with their inner exceptions.
  std::string handled_lines(const Thread& thread) const {
    std::string text;
    std::size_t lines = 0;
    for (const HandledException& exception : thread.handles) {
      for (const std::string& line : handled_words(exception)) {
        if (++lines <= kMaxTextExceptions) text += fmt::format("  {}{}{}\n", paint(kGap), bounded(line), paint(kReset));
      }
    }
    if (lines <= kMaxTextExceptions) return text;
    return text + fmt::format("  {}… {}{}\n", paint(kDim), count_words(lines - kMaxTextExceptions, "more exception"),
                              paint(kReset));
  }

  static std::string lock_label(const Lock& lock) {
    const bool is_object = lock.kind == LockKind::monitor || lock.kind == LockKind::threading_lock ||
                           lock.kind == LockKind::semaphore;
    const std::string what = lock.is_loader_lock()                 ? std::string(kLoaderLock)
                             : is_object && !lock.type.empty()     ? bounded(lock.type)
                             : lock.kind == LockKind::monitor      ? "an object"
                                                                   : std::string(sentence(lock.kind));
    if (lock.address != 0) return fmt::format("{} {:#x}", what, lock.address);
    if (lock.type.empty()) return what;
    return lock.kind == LockKind::callback ? fmt::format("{} ({})", what, bounded(lock.type))
                                           : what + ' ' + in_quotes(lock.type);
  }

  std::string held_by(const Lock& lock) const {
    if (lock.owner == 0) {
      if (const std::string holders = async_frames_.holder_words(lock); !holders.empty()) return ", held by " + holders;
    }
    if (!lock.held) return ", held by no thread";
    const std::string_view words = owner_words(lock.kind);
    if (lock.owner == 0) return lock.address == 0 ? "" : fmt::format("{}an unknown thread", words);
    std::string text = fmt::format("{}{:#x}", words, lock.owner);
    const auto owner = std::ranges::find(snapshot_.threads, lock.owner, &Thread::os_id);
    if (owner != snapshot_.threads.end() && !owner->name.empty()) text += ' ' + in_quotes(owner->name);
    return text;
  }

  static std::string entered(const Lock& lock) {
    return lock.recursion > 1 ? fmt::format(", entered {} times", lock.recursion) : "";
  }

  static std::string waiting(const Lock& lock) {
    const auto pulse = static_cast<std::size_t>(std::ranges::count_if(lock.waiters, &LockWaiter::pulse));
    const std::size_t enter = lock.waiters.size() - pulse;
    std::string text;
    if (enter != 0) text += fmt::format("{} {}", enter, enter == 1 ? "waits" : "wait");
    if (pulse != 0) text += fmt::format("{}{} to be pulsed", text.empty() ? "" : ", ", pulse);
    return text.empty() ? text : " (" + text + ")";
  }

  std::string frame_line(const Stack& stack, std::size_t index) const {
    const StackFrame& frame = stack.frames[index];
    switch (frame.kind) {
      case FrameKind::managed:
        return fmt::format("  #{:<3} {}M  {}{}\n", index, paint(kManaged), label(frame),
                           paint(kReset));
      case FrameKind::native: return fmt::format("  #{:<3} N  {}\n", index, label(frame));
      case FrameKind::stub:
        return fmt::format("  #{:<3} {}S  {}{}\n", index, paint(kStub), label(frame),
                           paint(kReset));
      case FrameKind::gap:
        return fmt::format("  {}···  gap: {}{}\n", paint(kGap), sentence(frame.why), paint(kReset));
    }
    return {};
  }

  std::string async_line(const AsyncFrame& frame, std::string_view indent) const {
    const std::string branch(2 * std::size_t{frame.depth}, ' ');
    if (frame.relation == AsyncFrame::Relation::cut) {
      return fmt::format("{}     {}{}… {}{}\n", indent, branch, paint(kDim), line_of(frame), paint(kReset));
    }
    return fmt::format("{}     {}{}A  {}{}\n", indent, paint(kAsync), branch, line_of(frame), paint(kReset));
  }

  // --depth may have cut off the last of the folded frames.
  std::string folded_line(const Stack& stack, const FoldedFrames& folded, std::size_t first,
                          std::size_t last) const {
    std::size_t real = 0;
    for (std::size_t i = first; i <= last; ++i) real += stack.frames[i].inline_depth == 0;
    return fmt::format("  #{:<3} {}N  [{}, {}]{}\n", first, paint(kDim), folded.role, count_words(real, "frame"),
                       paint(kReset));
  }

  std::string call_line(const Frame& frame) const {
    const bool returns = frame.kind == FrameKind::native && frame.address_kind == AddressKind::return_address;
    if (!options_.call_text || !returns || frame.module == Frame::kNone || frame.inline_depth != 0) return {};
    const std::string call = options_.call_text(frame);
    return call.empty() ? call : fmt::format("          {}{}{}\n", paint(kDim), bounded(call), paint(kReset));
  }

  // If a frame is not at its symbol's beginning, the label shows how far after it the frame is.
  std::string label(const StackFrame& frame) const {
    std::string text = line_label(snapshot_, frame, kLimits);
    if (frame.kind == FrameKind::native && !frame.name.empty() && frame.displacement != 0) {
      text += fmt::format("+{:#x}", frame.displacement);
    }
    if (frame.folded > 1) text += fmt::format(" (one of {})", frame.folded);
    text += line_place(frame, kLimits);
    if (is_guess(frame.trust) && frame.inline_depth == 0) {
      text += fmt::format("  (guessed: {})", enum_name(frame.trust));
    }
    const std::string_view wrong = sentence(frame.call);
    return wrong.empty() ? text : fmt::format("{} {}({}){}", text, paint(kGap), wrong, paint(kReset));
  }

  const Snapshot& snapshot_;
  const ShowOptions& options_;
  const RuntimeFrames runtime_frames_;
  const AsyncFrames async_frames_;
  const FrameNames names_;
  const std::vector<ThreadRoles> roles_;  // by thread
};

}  // namespace

bool write_text(const Snapshot& snapshot, const ShowOptions& options, ByteSink& sink) {
  const DumpTextWriter writer(snapshot, options);
  if (!sink.write(writer.crash() + writer.header())) return false;
  // The thread that crashed comes first.
  const auto crashed =
      std::ranges::find_if(snapshot.threads, [&](const Thread& thread) { return writer.is_crashed(thread); });
  if (crashed != snapshot.threads.end() && !sink.write(writer.thread(*crashed))) return false;
  for (auto thread = snapshot.threads.begin(); thread != snapshot.threads.end(); ++thread) {
    if (thread != crashed && !sink.write(writer.thread(*thread))) return false;
  }
  return sink.write(writer.tasks() + writer.footer());
}

}  // namespace mixwalk
