#include "tests/hunt/hunt.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>

#include "tests/end_to_end/recorded_file.h"
#include "tests/support/win/wine_dispatcher.h"
#include "walker/shown/words.h"

namespace mixwalk {
namespace {

// A visit hangs if it takes this much longer than the requested time. The machine may be busy.
constexpr DWORD kVisitMs = 60'000;
constexpr DWORD kEndMs = 90'000;
constexpr std::size_t kExamples = 2;

std::vector<std::string> program_command(const Situation& situation) {
  std::vector<std::string> command = {fixture("hunt.exe"), situation.name};
  if (is_long_hunt()) command.push_back("--busy");
  return command;
}

// An ordinary run looks for no locks, which costs as much processor time as the rest of the dump.
std::vector<std::string> dump_command(const char* engine) {
  std::vector<std::string> command = {"dump", "--engine", engine};
  if (!is_long_hunt()) command.push_back("--no-locks");
  return command;
}

std::vector<std::string> with_ids(const std::vector<std::string>& command,
                                  const std::string& process_id, const std::string& file) {
  std::vector<std::string> line = command;
  line.insert(line.end(), {"-p", process_id, "-o", file});
  return line;
}

std::string text_of(const Recording& recording, const Recording::Sample& sample) {
  std::string text = recording.threads[sample.thread].name + "\n";
  for (const std::uint32_t index : stack_frames(recording, sample.stack)) {
    const Frame& frame = recording.frames[index];
    char address[32];
    std::snprintf(address, sizeof address, "%#llx", frame.address);
    text += "  " + std::string(enum_name(frame.kind)) + " " + std::string(enum_name(frame.trust)) + " " + address +
            " " +
            (frame.module != Frame::kNone ? recording.modules[static_cast<std::size_t>(frame.module)].path + " " : "") +
            frame.name + (frame.kind == FrameKind::gap ? std::string(enum_name(frame.why)) : "") + "\n";
  }
  return text;
}

void print(const Situation& situation, const Seen& seen, const std::string& looked_at,
           const std::string& control) {
  std::printf("%s: %zu visits, %zu samples, %zu whole (%.2f %%), %zu in Wine's dispatcher left out%s\n"
              "  looked at: %s\n  control:   %s\n",
              situation.name.c_str(), seen.visits, seen.samples, seen.whole,
              seen.samples == 0 ? 0
                                : 100.0 * static_cast<double>(seen.whole) /
                                      static_cast<double>(seen.samples),
              seen.in_dispatcher, situation.why.empty() ? "" : ("; " + situation.why).c_str(), looked_at.c_str(),
              control.c_str());
  for (const auto& [why, times] : seen.gaps) std::printf("  gap: %s %zu times\n", why.c_str(), times);
  for (const auto& [why, times] : seen.skipped) {
    std::printf("  no stack: %s %zu times\n", why.c_str(), times);
  }
  std::fflush(stdout);
}

constexpr std::string_view kHuntThread = "hunt ";
// The beginning of the name of the method that each thread "hunt N" runs, and the function where the system starts a
// thread.
constexpr std::string_view kOwnMethod = "Hunt.Program+<>c__DisplayClass";
constexpr std::string_view kThreadStart = "RtlUserThreadStart";
// There is no code below this address, because Windows gives out no lower addresses.
constexpr std::uint64_t kLowestCode = 0x10000;

bool passes_wine_dispatcher(const Recording& recording, const Recording::Sample& sample) {
  const auto frames = stack_frames(recording, sample.stack);
  return std::ranges::any_of(frames, [&](const std::uint32_t index) {
    return in_wine_dispatcher(recording.frames[index].address);
  });
}

bool counts_as_whole(const Recording& recording, const Recording::Sample& sample,
                     const Situation& situation) {
  return situation.guesses ? has_no_gap(recording, sample) : is_whole(recording, sample);
}

// Returns why this stack cannot be right. Returns an empty text if nothing is wrong with it.
std::string impossible(const Recording& recording, const Recording::Sample& sample,
                       const Situation& situation) {
  for (const std::uint32_t index : stack_frames(recording, sample.stack)) {
    const Frame& frame = recording.frames[index];
    if (frame.kind != FrameKind::gap && frame.address < kLowestCode) return "no address of code";
  }
  if (!counts_as_whole(recording, sample, situation)) return {};
  const std::vector<std::string> frames = frame_names(recording, sample);
  if (situation.impossible != nullptr) {
    const std::string wrong = situation.impossible(frames);
    if (!wrong.empty()) return wrong;
  }
  if (situation.one_stack) {
    if (std::ranges::none_of(frames, [](const auto& name) { return name.starts_with(kOwnMethod); })) {
      return "a whole stack without the thread's own method";
    }
    if (frames.back() != kThreadStart) return "a whole stack that begins at no thread's start";
  }
  return {};
}

void look_at(const Recording& recording, const Situation& situation, Seen& seen) {
  for (const Recording::Sample& sample : recording.samples) {
    if (!recording.threads[sample.thread].name.starts_with(kHuntThread)) continue;
    if (sample.stack == Recording::kNone) {
      ++seen.skipped[recording.details[sample.detail]];
      ++seen.skipped_samples;
      continue;
    }
    const bool whole = counts_as_whole(recording, sample, situation);
    if (!whole && passes_wine_dispatcher(recording, sample)) {
      ++seen.in_dispatcher;
      continue;
    }
    ++seen.samples;
    seen.whole += whole;
    if (!whole) {
      for (const std::uint32_t index : stack_frames(recording, sample.stack)) {
        const Frame& frame = recording.frames[index];
        if (frame.kind == FrameKind::gap) ++seen.gaps[std::string(enum_name(frame.why))];
      }
      if (seen.examples.size() < kExamples) seen.examples.push_back(text_of(recording, sample));
    }
    const std::string wrong = impossible(recording, sample, situation);
    if (!wrong.empty() && ++seen.impossible[wrong] == 1) {
      seen.examples.push_back("impossible: " + text_of(recording, sample));
    }
  }
}

}  // namespace

void PrintTo(const Situation& situation, std::ostream* out) { *out << situation.name; }

bool is_long_hunt() { return std::getenv("MIXWALK_HUNT_SECONDS") != nullptr; }

std::chrono::milliseconds hunt_time() {
  const int seconds = wanted("MIXWALK_HUNT_SECONDS", 0, 1);
  return seconds != 0 ? std::chrono::seconds(seconds) : std::chrono::milliseconds(250);
}

std::string hunt_duration() { return std::to_string(hunt_time().count()) + "ms"; }

HuntedProgram::HuntedProgram(const Situation& situation)
    : HuntedProgram(program_command(situation), situation.environment) {}

HuntedProgram::HuntedProgram(const std::vector<std::string>& arguments, const Environment& environment)
    : process_(arguments, StartOptions{.environment = environment}) {
  const std::string line = process_.read_line().value_or("(closed)");
  EXPECT_TRUE(line.starts_with("READY")) << line;
}

std::string HuntedProgram::stop() {
  process_.write_line("STOP");
  const std::string line = process_.read_line().value_or("(closed)");
  EXPECT_TRUE(line.starts_with("OK ")) << line;
  const auto code = process_.wait(kEndMs);
  EXPECT_EQ(code.value_or(STILL_ACTIVE), 0u);
  return line;
}

Recording visit(const std::string& process_id, const std::vector<std::string>& command,
                const Situation& situation, Seen& seen) {
  const std::string file = temporary_file("hunt.mixwalk");
  // The program is ended from here after that time, with a special exit code.
  const ProgramResult result =
      run_until_let_in(with_ids(command, process_id, file),
                       kVisitMs + static_cast<DWORD>(hunt_time().count()));
  ++seen.visits;
  EXPECT_EQ(result.exit_code, 0u) << situation.name << ", " << command.front() << ": " << result.err;
  if (result.exit_code != 0) return {};
  Recording recording = read_whole(file);
  remove_file(file);
  look_at(recording, situation, seen);
  if (command.front() != "dump") return recording;
  std::set<std::string> dumped;
  for (const Recording::Sample& sample : recording.samples) dumped.insert(recording.threads[sample.thread].name);
  for (std::size_t i = 0; i < situation.threads; ++i) {
    const std::string name = std::string(kHuntThread) + std::to_string(i);
    EXPECT_TRUE(dumped.contains(name)) << "the dump has no thread \"" << name << '"';
  }
  return recording;
}

void hunt(const Situation& situation) {
  std::optional<HuntedProgram> control;
  if (is_long_hunt()) control.emplace(situation);
  HuntedProgram hunted(situation);
  const std::string time = hunt_duration();
  Seen seen;
  const auto may_continue = [&] { return hunted.process().running() && !::testing::Test::HasFailure(); };
  if (may_continue()) visit(hunted.id(), {"record", "-i", "1ms", "--budget", "0", "-d", time}, situation, seen);
  // Each visit costs a second, most of it for the start of programs under Wine. So in an ordinary run each situation is
  // dumped once, with the engines alternating between situations.
  static int dumps = 0;
  const ULONGLONG end = GetTickCount64() + static_cast<ULONGLONG>(hunt_time().count());
  do {
    const char* engine = dumps++ % 2 == 0 ? "copy" : "snapshot";
    if (may_continue()) visit(hunted.id(), dump_command(engine), situation, seen);
  } while (is_long_hunt() && may_continue() && GetTickCount64() < end);
  if (may_continue() && (is_long_hunt() || situation.throws)) {
    visit(hunted.id(), {"record", "--on", "exception", "-d", time}, situation, seen);
  }
  const std::string looked_at = hunted.stop();
  std::string alone = "not run";
  if (control) {
    alone = control->stop();
  } else if (::testing::Test::HasFailure()) {
    // Whether the program fails by itself.
    HuntedProgram late(situation);
    Sleep(static_cast<DWORD>(hunt_time().count()));
    alone = late.stop();
  }
  judge(situation, seen, looked_at, alone);
}

void judge(const Situation& situation, const Seen& seen, const std::string& looked_at,
           const std::string& control) {
  print(situation, seen, looked_at, control);
  for (const auto& [wrong, times] : seen.impossible) {
    ADD_FAILURE() << wrong << ", " << times << " times";
  }
  // In a short run two samples may be partial, because Wine's look-up may miss an entry that exists
  // (rtl_unwind_step.cpp).
  const double partial = static_cast<double>(seen.samples - seen.whole);
  EXPECT_LE(partial,
            std::max(2.0, (1 - situation.whole) * static_cast<double>(seen.samples)));
  if (!::testing::Test::HasFailure()) return;
  for (const std::string& example : seen.examples) std::printf("%s", example.c_str());
}

}  // namespace mixwalk
