#include "walker/export/findings_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <string>

#include "walker/base/printable.h"
#include "walker/export/text_styles.h"
#include "walker/hang/finding_words.h"
#include "walker/hang/frame_names.h"
#include "walker/hang/wait_rules.h"
#include "walker/shown/frame_label.h"
#include "walker/shown/utc_text.h"
#include "walker/shown/words.h"

namespace mixwalk {
namespace {

// The limits for one screen. With --all everything is shown.
constexpr std::size_t kMaxName = 200, kMaxLine = 1000;  // bytes
constexpr LineLimits kLimits{.names = kMaxLine, .files = kMaxName};
constexpr std::size_t kDumps = 10, kFindings = 8, kFindingThreads = 12, kGroups = 12, kThreadsOfGroup = 4;

std::string line_of(std::string_view text) { return printable(text, kMaxLine); }

class FindingsTextWriter {
 public:
  FindingsTextWriter(std::span<const Snapshot> dumps, const Findings& findings, const FindingsTextOptions& options)
      : dumps_(dumps), findings_(findings), options_(options), names_(dumps.begin(), dumps.end()) {}

  std::string text() {
    std::string text = header();
    const std::size_t count = options_.all ? findings_.findings.size() : std::min(findings_.findings.size(), kFindings);
    for (std::size_t i = 0; i < count; ++i) text += finding(i);
    if (count < findings_.findings.size()) {
      text += fmt::format("\n… {} (--all)\n", count_words(findings_.findings.size() - count, "more finding"));
    }
    for (const std::string& gap : findings_.gaps)
      text += fmt::format("\n{}note: {}{}", paint(kDim), line_of(gap), paint(kReset));
    if (!findings_.gaps.empty()) text += '\n';
    text += options_.fleet != nullptr ? fleet() : groups();
    if (options_.all) text += tree();
    return text;
  }

 private:
  std::string_view paint(std::string_view colour) const { return options_.colour ? colour : std::string_view(); }

  std::string header() const {
    const Severity worst = severity(findings_);
    std::string text = fmt::format("{}{}{}{}\n", paint(kBold), worst == Severity::note ? "" : paint(kRed),
                                   line_of(headline(findings_)), paint(kReset));
    const std::size_t shown = options_.all ? findings_.dumps.size() : std::min(findings_.dumps.size(), kDumps);
    for (std::size_t i = 0; i < shown; ++i) {
      const DumpInfo& info = findings_.dumps[i];
      const bool new_process = i == 0 || findings_.dumps[i - 1].process != info.process;
      if (new_process) {
        text += fmt::format("process {}  {}\n", dumps_[i].process.id, printable(dumps_[i].process.path, kMaxName));
      }
      text += fmt::format("  dump {}  {}  {}", i + 1, utc_text(info.unix_time_ms), count_words(info.threads, "thread"));
      const std::uint64_t before = i == 0 ? 0 : findings_.dumps[i - 1].unix_time_ms;
      if (!new_process && before != 0 && info.unix_time_ms >= before) {
        text += fmt::format("  +{}", time_words(info.unix_time_ms - before));
      }
      text += fmt::format("  {}{}{}\n", paint(kDim), printable(info.file, kMaxName), paint(kReset));
    }
    if (shown < findings_.dumps.size()) {
      text += fmt::format("  … {} (--all)\n", count_words(findings_.dumps.size() - shown, "more dump"));
    }
    return text;
  }

  std::string finding(std::size_t number) const {
    const Finding& finding = findings_.findings[number];
    const std::string_view colour = finding.severity == Severity::note ? std::string_view() : paint(kRed);
    std::string text = fmt::format("\n{}. {}{}{}{}{}\n", number + 1, paint(kBold), colour, line_of(finding.title),
                                   paint(kReset), process_of(finding));
    for (const std::string& detail : finding.details) text += "   " + line_of(detail) + "\n";
    // Consecutive threads that do the same in the same place share their lines.
    std::string labels, shared;
    const auto flush = [&] {
      if (!labels.empty()) text += fmt::format("   {}{}{}  {}", paint(kBold), labels, paint(kReset), shared);
      labels.clear();
    };
    const std::size_t shown =
        options_.all ? finding.threads.size() : std::min(finding.threads.size(), kFindingThreads);
    for (const FindingThread& part : std::span(finding.threads).first(shown)) {
      const ThreadHistory& history = findings_.threads[part.thread];
      const std::uint32_t thread = thread_index(history, part.dump);
      std::string lines = line_of(part.words) + "\n" +
                          (options_.all ? stack(part.dump, thread, 0, "     ")
                                        : place(part.dump, thread, part.frame, kFindingFrames, "     "));
      if (lines != shared) flush();
      labels += (labels.empty() ? "" : ", ") + thread_label(history);
      shared = std::move(lines);
    }
    flush();
    if (shown < finding.threads.size()) {
      text += fmt::format("   … {} (--all)\n", count_words(finding.threads.size() - shown, "more thread"));
    }
    if (options_.all && !finding.behind.empty()) {
      text += "   not listed above:";
      for (const std::uint32_t thread : finding.behind) text += " " + thread_label(findings_.threads[thread]);
      text += '\n';
    }
    return text;
  }

  // If the dumps are of several processes: "  in process 4711, web1.mixwalk".
  std::string process_of(const Finding& finding) const {
    const bool several = std::ranges::any_of(findings_.dumps, [](const DumpInfo& info) { return info.process != 0; });
    if (!several || finding.threads.empty()) return {};
    const std::uint32_t dump = finding.threads.front().dump;
    return fmt::format("  in process {}, {}", dumps_[dump].process.id, printable(findings_.dumps[dump].file, kMaxName));
  }

  static std::uint32_t thread_index(const ThreadHistory& history, std::uint32_t dump) {
    const auto found = std::ranges::find(history.sightings, dump, &Sighting::dump);
    return found == history.sightings.end() ? history.last().thread : found->thread;
  }

  static std::string thread_label(const ThreadHistory& history) {
    std::string text = hex(history.os_id);
    if (!history.name.empty()) text += " \"" + printable(history.name, kMaxName) + "\"";
    if (history.roles.any()) text += fmt::format(" ({})", role_words(history.roles));
    return text;
  }

  // `at`: the index of the frame.
  std::string label(std::uint32_t dump, std::uint32_t thread, std::size_t at) const {
    const Stack& stack = dumps_[dump].threads[thread].stack;
    const Frame& frame = stack.frames[at];
    return line_label(dumps_[dump], frame, kLimits) + line_place(frame, kLimits);
  }

  std::string frame_line(std::uint32_t dump, std::uint32_t thread, std::size_t at, std::string_view indent) const {
    const bool managed = dumps_[dump].threads[thread].stack.frames[at].kind == FrameKind::managed;
    return fmt::format("{}at {}{}{}\n", indent, managed ? paint(kCyan) : std::string_view(), label(dump, thread, at),
                       managed ? paint(kReset) : std::string_view());
  }

  // All frames from `first` on.
  std::string stack(std::uint32_t dump, std::uint32_t thread, std::size_t first, std::string_view indent) const {
    const std::size_t count = dumps_[dump].threads[thread].stack.frames.size();
    std::string text;
    for (std::size_t i = first; i < count; ++i) text += frame_line(dump, thread, i, indent);
    return text;
  }

  std::string place(std::uint32_t dump, std::uint32_t thread, std::uint32_t first, std::size_t count,
                    std::string_view indent) const {
    const std::vector<StackFrame>& frames = dumps_[dump].threads[thread].stack.frames;
    std::string text;
    for (const std::uint32_t i : significant_frames(names_[dump], frames, first, count)) {
      text += frame_line(dump, thread, i, indent);
    }
    return text;
  }

  // "3 stuck, 12 idle".
  std::string counts() const {
    std::map<int, std::pair<std::string_view, std::size_t>> counts;
    for (const ThreadHistory& thread : findings_.threads) {
      const bool once = thread.verdict == Verdict::once;
      auto& [words, count] = once ? counts[100 + static_cast<int>(thread.last().wait.state)]
                                  : counts[static_cast<int>(thread.verdict)];
      words = once ? wait_state_words(thread.last().wait.state) : verdict_words(thread.verdict);
      ++count;
    }
    std::string text;
    for (const auto& [order, of] : counts)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", of.second, of.first);
    return text;
  }

  // The threads that the text shows with the findings.
  std::set<std::uint32_t> threads_of_findings() const {
    std::set<std::uint32_t> threads;
    for (std::size_t i = 0; i < std::min(findings_.findings.size(), kFindings); ++i) {
      for (const FindingThread& part : findings_.findings[i].threads) threads.insert(part.thread);
      threads.insert(findings_.findings[i].behind.begin(), findings_.findings[i].behind.end());
    }
    return threads;
  }

  std::string groups() const {
    std::string text = fmt::format("\n{}{}{}: {}\n", paint(kBold), count_words(findings_.threads.size(), "thread"),
                                   paint(kReset), counts());
    std::map<std::string, std::size_t> idle;  // by words
    std::size_t shown = 0, left_groups = 0, left_threads = 0, above = 0;
    const std::set<std::uint32_t> found = threads_of_findings();
    for (const StackGroup& group : findings_.groups) {
      const bool in_findings =
          std::ranges::all_of(group.threads, [&](std::uint32_t thread) { return found.contains(thread); });
      if (in_findings && !options_.all) {
        above += group.threads.size();
        continue;
      }
      const ThreadHistory& first = findings_.threads[group.threads.front()];
      const bool is_idle = first.last().wait.state == WaitState::idle &&
                           (group.verdict == Verdict::idle || group.verdict == Verdict::once);
      if (is_idle && !options_.all) {
        idle[first.last().wait.words] += group.threads.size();
      } else if (shown == kGroups && !options_.all) {
        ++left_groups;
        left_threads += group.threads.size();
      } else {
        ++shown;
        text += this->group(group);
      }
    }
    if (above != 0) text += fmt::format("  {:>4} ×  shown above\n", above);
    if (left_groups != 0) {
      text += fmt::format("  … {} in {} (--all)\n", count_words(left_threads, "more thread"),
                          count_words(left_groups, "group"));
    }
    for (const auto& [words, count] : idle) {
      text += fmt::format("  {}{:>4} ×  idle: {}{}\n", paint(kDim), count, line_of(words), paint(kReset));
    }
    return text;
  }

  // For each group: how many threads of how many processes it has, and of which processes.
  std::string fleet() const {
    const Fleet& fleet = *options_.fleet;
    const auto in_trouble = static_cast<std::size_t>(std::ranges::count(fleet.in_trouble, true));
    std::string text = fmt::format("\n{}{}{}, {} in trouble. Stacks that they have in common:\n", paint(kBold),
                                   count_words(fleet.in_trouble.size(), "process", "processes"),
                                   paint(kReset), in_trouble);
    const std::size_t count = options_.all ? fleet.groups.size() : std::min(fleet.groups.size(), kGroups);
    for (std::size_t i = 0; i < count; ++i) {
      const FleetGroup& group = fleet.groups[i];
      const Sighting& last = findings_.threads[group.threads.front()].last();
      text += fmt::format("  {}{} of {}{}: {}{}\n", paint(kBold), group.processes, fleet.in_trouble.size(),
                          paint(kReset), line_of(last.wait.words.empty() ? "no stack" : last.wait.words),
                          group.only_in_trouble ? ". Only in those in trouble" : "");
      text += "          threads of each:";
      for (const std::uint32_t threads : group.counts) text += " " + std::to_string(threads);
      text += '\n';
      const std::uint32_t frame = last.wait.program != kNoFrame ? last.wait.program : last.wait.frame;
      text += options_.all ? stack(last.dump, last.thread, 0, "          ")
                           : place(last.dump, last.thread, frame, 1, "          ");
    }
    if (count < fleet.groups.size()) {
      text += fmt::format("  … {} (--all)\n", count_words(fleet.groups.size() - count, "more group"));
    }
    return text;
  }

  // What all of these threads do. Threads with the same stack may wait for different tasks.
  std::string_view words_of(const std::vector<std::uint32_t>& threads) const {
    const Wait& first = findings_.threads[threads.front()].last().wait;
    const WaitRule* const rule = find_wait_rule(first.rule);
    const bool same = std::ranges::all_of(
        threads, [&](std::uint32_t thread) { return findings_.threads[thread].last().wait.words == first.words; });
    if (!same && rule != nullptr) return rule->words;
    return first.words.empty() ? std::string_view("no stack") : first.words;
  }

  std::string group(const StackGroup& group) const {
    const ThreadHistory& first = findings_.threads[group.threads.front()];
    const Sighting& last = first.last();
    const std::string_view verdict =
        group.verdict == Verdict::once ? wait_state_words(last.wait.state) : verdict_words(group.verdict);
    std::string text = fmt::format("  {:>4} ×  {}{}{}: {}\n", group.threads.size(), paint(kBold), verdict,
                                   paint(kReset), line_of(words_of(group.threads)));
    text += "          ";
    const std::size_t shown = options_.all ? group.threads.size() : std::min(group.threads.size(), kThreadsOfGroup);
    for (std::size_t i = 0; i < shown; ++i) {
      text += (i == 0 ? "" : ", ") + thread_label(findings_.threads[group.threads[i]]);
    }
    if (shown < group.threads.size()) text += fmt::format(", … {} more", group.threads.size() - shown);
    text += '\n';
    if (options_.all) return text + moves(group) + stack(last.dump, last.thread, 0, "          ");
    const std::uint32_t frame = last.wait.program != kNoFrame ? last.wait.program : last.wait.frame;
    return text + place(last.dump, last.thread, frame, 1, "          ");
  }

  // For threads that moved: where their last two stacks differ.
  std::string moves(const StackGroup& group) const {
    const ThreadHistory& first = findings_.threads[group.threads.front()];
    if (group.verdict != Verdict::moved || first.sightings.size() < 2) return {};
    const Sighting& before = first.sightings[first.sightings.size() - 2];
    const std::size_t count = dumps_[before.dump].threads[before.thread].stack.frames.size();
    if (first.common >= count) return {};
    return fmt::format("          {} from the root are as they were; it was in {}\n",
                       count_words(first.common, "frame"), label(before.dump, before.thread, count - first.common - 1));
  }

  std::string tree() const {
    if (findings_.tree.empty()) return {};
    std::string text =
        fmt::format("\n{}All stacks of dump {}, from the root{}\n", paint(kBold), dumps_.size(), paint(kReset));
    std::vector<std::uint32_t> depth(findings_.tree.size()), callees(findings_.tree.size());
    for (const TreeNode& node : findings_.tree) {
      if (node.parent != TreeNode::kNone) ++callees[node.parent];
    }
    for (std::size_t i = 0; i < findings_.tree.size(); ++i) {
      const TreeNode& node = findings_.tree[i];
      // A node is only indented if stacks part above it.
      const bool step = node.parent != TreeNode::kNone &&
                        (callees[node.parent] > 1 || findings_.tree[node.parent].ends != 0);
      depth[i] = node.parent == TreeNode::kNone ? 0 : depth[node.parent] + (step ? 1 : 0);
      constexpr std::uint32_t kMaxDepth = 40;
      const auto last = static_cast<std::uint32_t>(dumps_.size() - 1);
      text += fmt::format("{:>5} {:{}}{}\n", node.count, "", 2 * std::min(depth[i], kMaxDepth),
                          label(last, node.thread, node.frame));
    }
    return text;
  }

  std::span<const Snapshot> dumps_;
  const Findings& findings_;
  const FindingsTextOptions& options_;
  const std::vector<FrameNames> names_;  // for each dump
};

}  // namespace

bool write_findings_text(std::span<const Snapshot> dumps, const Findings& findings, const FindingsTextOptions& options,
                         ByteSink& sink) {
  return sink.write(FindingsTextWriter(dumps, findings, options).text());
}

}  // namespace mixwalk
