// Programs that work normally. For each two and each three neighbouring dumps, a second apart, mixwalk compare must say
// that nothing is stuck.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/end_to_end/hanging_program.h"
#include "tests/end_to_end/recorded_file.h"
#include "tests/support/win/child_process.h"
#include "walker/base/byte_sink.h"
#include "walker/export/findings_text.h"
#include "walker/hang/finding_words.h"
#include "walker/hang/findings.h"
#include "walker/model/series.h"

namespace mixwalk {
namespace {

constexpr DWORD kEndMs = 120'000;
// A context whose thread is at work, channels, timers.
constexpr const char* kAsyncWays = "context-at-work+pipeline+timers";
// Threads that pass a lock from hand to hand, and threads that poll.
constexpr const char* kTurnWays = "turns+reader-writer-turns+semaphore-turns+section-turns+polls+slow-consumer";

struct Program {
  std::string name;
  std::vector<std::string> line;  // a fixture that ends when it reads STOP, with 0 if everything it did was right
};

void PrintTo(const Program& program, std::ostream* out) { *out << program.name; }

class Healthy : public testing::TestWithParam<Program> {
 protected:
  Healthy() : file_(temporary_file("healthy.mixwalk")) { DeleteFileA(file_.c_str()); }
  ~Healthy() override { DeleteFileA(file_.c_str()); }

  const std::string file_;
};

bool is_in_motion(const ThreadHistory& thread) {
  return thread.verdict == Verdict::moved || thread.verdict == Verdict::returned || thread.verdict == Verdict::spinning;
}

TEST_P(Healthy, NoPairOfDumpsSaysThatSomethingIsStuck) {
  constexpr std::size_t kOrdinary = 2;
  const std::size_t pairs = wanted_pairs(kOrdinary);
  const int every_ms = wanted_every_ms(1000);
  const auto name = GetParam().line.front();
  std::vector<std::string> line = GetParam().line;
  line.front() = fixture(name);
  // Folklore: four threads that never rest take both processors from the dumps, and from the test beside this one. Real
  // case: the dumps of this program took 45 s, those of the others 5 s. In a longer run they do not rest.
  if (name == "sqlite.exe" && pairs == kOrdinary) line.push_back("--rest");
  if (name == "desktop.exe") prepare_desktop();
  ChildProcess program(line);
  ASSERT_TRUE(read_until_ready(program));
  const ProgramResult dumped =
      run_program({mixwalk_exe(), "dump", "-p", std::to_string(program.id()), "-o", file_, "--repeat",
                   std::to_string(pairs + 1), "--every", std::to_string(every_ms) + "ms"},
                  kEndMs + static_cast<DWORD>(pairs) * (10'000 + static_cast<DWORD>(every_ms)));
  ASSERT_EQ(dumped.exit_code, 0u) << dumped.err;
  program.write_line("STOP");
  const std::string said = program.read_rest();
  EXPECT_EQ(program.wait(kEndMs), 0u) << said;

  const std::vector<Snapshot> dumps = to_series(read_whole(file_));
  ASSERT_EQ(dumps.size(), pairs + 1);
  std::size_t all = 0, quiet = 0, in_motion = 0;
  std::map<std::string_view, std::size_t> verdicts;
  compare_neighbours(dumps, [&](std::span<const Snapshot> some, const Findings& findings) {
    ++all;
    in_motion += std::ranges::any_of(findings.threads, is_in_motion);
    for (const ThreadHistory& thread : findings.threads) ++verdicts[enum_name(thread.verdict)];
    if (severity(findings) == Severity::note) {
      ++quiet;
      return;
    }
    StringSink text;
    write_findings_text(some, findings, {.all = true}, text);
    ADD_FAILURE() << some.size() << " dumps from dump " << &some.front() - dumps.data() + 1 << ": "
                  << text.text.substr(0, 20'000);
  });
  EXPECT_GT(in_motion, 0u) << "nothing was at work: the dumps prove nothing";
  std::printf("%s: %zu of %zu pairs and triples say that nothing is stuck; in %zu a thread was seen to move\n%s ",
              GetParam().name.c_str(), quiet, all, in_motion, said.c_str());
  for (const auto& [verdict, threads] : verdicts) std::printf(" %s %zu", std::string(verdict).c_str(), threads);
  std::printf("\n");
}

std::vector<Program> programs() {
  std::vector<Program> all = {{"kestrel", {"..\\fixtures-kestrel\\kestrel.exe"}},
                              {"sqlite", {"sqlite.exe", "--work"}},
                              {"torture", {"torture.exe", "--seconds", "600"}},
                              {"turns", {"hangs.exe", "--way", kTurnWays}},
                              {"async", {"hangs.exe", "--way", kAsyncWays}},
                              {"desktop", {"desktop.exe", "--way", "at-work"}},
                              {"apartments", {"hangs.exe", "--way", "apartments"}},
                              {"collections", {"hangs.exe", "--way", "collections"}}};
  // In a longer run, each way is looked at by itself as well. (hangs_async_test has pool-waits.)
  if (std::getenv("MIXWALK_PAIRS") == nullptr) return all;
  for (const char* way : {"context-at-work", "pipeline", "timers", "pool-waits", "turns", "reader-writer-turns",
                          "semaphore-turns", "section-turns", "polls", "slow-consumer"}) {
    std::string name = std::string(way) + "_alone";
    std::ranges::replace(name, '-', '_');
    all.push_back({name, {"hangs.exe", "--way", way, "--seconds", "1200"}});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Programs, Healthy, testing::ValuesIn(programs()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace mixwalk
