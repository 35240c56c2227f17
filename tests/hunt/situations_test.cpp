// The situations of hunt.exe, one case each. A new situation needs a file in fixtures/hunt (Situations/ or native/), a
// line in that folder's table, and a line here. Situations that a separate test checks more strictly are not here:
// foreign_threads_test (native-threads, own-suspensions), lost_frames_test (jumps-to-itself, moves-rsp), passing_test
// (dynamic-methods, turns). torture_test runs all of these at once.

#include <gtest/gtest.h>

#include "tests/hunt/hunt.h"

namespace mixwalk {
namespace {

class Hunt : public ::testing::TestWithParam<Situation> {};

TEST_P(Hunt, TheProgramNeverNotices) { hunt(GetParam()); }

// LinkN calls Link(N + 1) or Link(N + 2), modulo 5, over frames of other names; Link0 is called first.
std::string wrong_chain(const std::vector<std::string>& frames) {
  constexpr std::string_view kLink = "Hunt.Program.Link";
  int callee = -1;
  for (const std::string& frame : frames) {
    if (!frame.starts_with(kLink)) continue;
    const int link = frame[kLink.size()] - '0';
    if (callee >= 0 && callee != (link + 1) % 5 && callee != (link + 2) % 5) {
      return "a link of a chain calls another than it does";
    }
    callee = link;
  }
  return callee > 0 ? "a chain without its first link" : "";
}

// hunt_retabled calls hunt_retabled_middle, which calls code outside of every image.
std::string without_middle(const std::vector<std::string>& frames) {
  for (std::size_t i = 1; i < frames.size(); ++i) {
    const bool code = frames[i - 1].empty() || frames[i - 1].starts_with("[code at");
    if (code && frames[i] == "hunt_retabled") return "code without its caller";
  }
  return "";
}

// hunt_engine calls code without a name, this code calls other code without a name, and that code calls
// hunt_engine_work.
std::string wrong_engine(const std::vector<std::string>& frames) {
  const auto round = std::ranges::find(frames, "hunt_engine");
  const auto above = std::find_if(std::reverse_iterator(round), frames.rend(),
                                  [](const std::string& name) { return !name.empty(); });
  const auto code = above - std::reverse_iterator(round);
  if (round == frames.end()) {
    // A managed method can reach the stub of a P/Invoke through a thunk of the runtime. This thunk has no name either.
    // About one sample in 5,000 shows such a thunk.
    const bool is_thunk = frames.size() > 1 && frames[1].starts_with("Hunt.Program");
    return frames[0].empty() && !is_thunk ? "code of the engine without its caller" : "";
  }
  if (code > 2) return "a function of the engine too much";
  const bool inside = above != frames.rend();  // the frames above belong to functions that the inner function has
                                               // called
  if (inside && code != 0 && *above != "hunt_engine_work") return "the engine calls something else";
  return inside && code == 1 ? "a function of the engine is missing" : "";
}

// Every function that CallCatcher calls has a name.
std::string without_catcher(const std::vector<std::string>& frames) {
  const bool wrong =
      frames.size() > 1 && frames[0].empty() && frames[1].starts_with("Hunt.Catches.CallCatcher");
  return wrong ? "a method that catches is missing" : "";
}

const Situation kSituations[] = {
    // The thread runs on another stack than the one with the managed frames, and nothing leads from there to them.
    {.name = "fibers", .whole = 0, .one_stack = false},
    {.name = "coroutines", .whole = 0, .one_stack = false},
    {.name = "coroutines-behind-the-teb", .whole = 0, .one_stack = false},
    {.name = "small-stacks"},
    {.name = "stack-growth"},
    // Folklore: Wine 8's NtContinue, which continues after an exception, is a call into Wine's dispatcher of system
    // calls. The dispatcher lies in a Linux library, pops its own return address and saves all registers; meanwhile
    // nothing on the stack says where the thread came from. Wine's RtlCaptureContext pushes the flags and has no unwind
    // data. On Windows NtContinue is a system call, and RtlCaptureContext has unwind data. Real case: of 9,622 samples,
    // 68 were partial, 60 of them in or below that dispatcher, and 8 in RtlCaptureContext. Each shows where the thread
    // is, and a gap. The samples in the dispatcher are left out.
    {.name = "cpp-exceptions", .whole = 0.99, .throws = true},
    {.name = "longjmp", .throws = true},
    {.name = "seh", .throws = true},
    // Wine's dispatcher leaves its images and runs code without unwind data.
    {.name = "vectored", .threads = 1, .whole = 0.97, .throws = true},
    {.name = "terminated"},
    {.name = "apcs"},
    {.name = "waits"},
    {.name = "registers"},
    {.name = "last-error"},
    {.name = "erased-headers", .whole = 0},
    {.name = "corrupt-function-table", .whole = 0},
    // Each round removes its table and its memory, so either may be gone between the resume and the walk.
    {.name = "mapped-by-hand", .whole = 0.9},
    {.name = "mapped-without-unwind-data", .whole = 0},
    {.name = "many-images"},
    // A table may have been removed between the resume and the walk.
    {.name = "growable-tables", .whole = 0.9},
    // The code may have been replaced between the resume and the walk.
    {.name = "engine", .whole = 0.99, .guesses = true, .impossible = &wrong_engine},
    {.name = "retabled", .whole = 0.9, .impossible = &without_middle},
    {.name = "stale-table", .whole = 0},
    // If a stack's limits are wrong, it cannot be copied up to its root.
    {.name = "moved-limits", .whole = 0},
    {.name = "moved-threads"},
    {.name = "tormented", .threads = 1, .whole = 0.99},
    {.name = "libraries", .threads = 5, .whole = 0.99},
    // The callbacks handle faults of their own, in Wine's dispatcher, as above. Also, each round removes its table and
    // its memory, as above.
    {.name = "table-callbacks", .whole = 0.9, .throws = true},
    {.name = "guard-pages", .whole = 0.99},
    {.name = "gc"},
    {.name = "gc", .title = "gc_of_servers", .environment = {{"DOTNET_gcServer", "1"}}},
    {.name = "long-loops",
     .environment = {{"DOTNET_OSR_HitLimit", "1"}, {"DOTNET_TC_OnStackReplacement_InitialCounter", "10"}}},
    {.name = "tiering", .environment = {{"DOTNET_TC_BackgroundWorkerTimeoutMs", "0"}, {"DOTNET_TieredPGO", "1"}}},
    {.name = "tiering", .title = "writable_code", .environment = {{"DOTNET_EnableWriteXorExecute", "0"}}},
    {.name = "expressions", .environment = dynamic_methods_may_end()},
    {.name = "throw", .throws = true},
    {.name = "caught", .throws = true, .impossible = &without_catcher},
    {.name = "contexts", .throws = true},
    {.name = "tasks"},
    {.name = "apartments"},
    // Wine's dispatcher leaves its images and runs code without unwind data.
    {.name = "null", .whole = 0.97, .throws = true},
    {.name = "end-of-stack", .throws = true},
    {.name = "deep", .threads = 1},
    {.name = "thousand"},
    {.name = "threads"},
    {.name = "pool"},
    {.name = "chains", .impossible = &wrong_chain},
};

std::string case_name(const ::testing::TestParamInfo<Situation>& info) {
  std::string name = info.param.title.empty() ? info.param.name : info.param.title;
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(, Hunt, ::testing::ValuesIn(kSituations), &case_name);

}  // namespace
}  // namespace mixwalk
