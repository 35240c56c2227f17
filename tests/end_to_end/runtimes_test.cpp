// Older runtimes than that of the other fixtures: hang.exe runs with each of them, and is walked by an attach and by a
// start under mixwalk.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/end_to_end/ended_thread.h"
#include "tests/end_to_end/recorded_file.h"
#include "tests/support/win/child_process.h"

namespace mixwalk {
namespace {

using Json = nlohmann::json;

// Threads of hang.exe that never move, in managed and in native code.
constexpr const char* kStuck[] = {"deadlock 1", "deadlock 2", "task result", "native wait",
                                  "sleep",      "accept",     "deep"};

// The parameter, such as "net8.0", is the name of the folder beside the fixtures, and the version of the runtime.
class Runtimes : public testing::TestWithParam<const char*> {
 protected:
  static std::string program() { return fixture("..\\fixtures-" + std::string(GetParam()) + "\\hang.exe"); }
  static std::string version() { return std::string(GetParam()).substr(3) + "."; }
};

TEST_P(Runtimes, DumpByAttach) {
  ChildProcess hang({program()});
  ASSERT_TRUE(hang.read_line().value_or("").starts_with("READY"));
  for (const char* engine : {"snapshot", "copy"}) {
    SCOPED_TRACE(engine);
    const ProgramResult result = run_until_let_in(
        {"dump", "-f", "json", "--engine", engine, "-p", std::to_string(hang.id())});
    ASSERT_EQ(result.exit_code, 0u) << result.err;
    const Json dump = Json::parse(result.out);
    EXPECT_TRUE(dump.at("runtime").at("version").get<std::string>().starts_with(version()))
        << dump.at("runtime");
    std::set<std::string> names;
    std::size_t recursions = 0;
    std::vector<std::string> targets;
    for (const auto& thread : dump.at("threads")) {
      EXPECT_TRUE(ended_meanwhile(thread) || thread.at("whole").get<bool>()) << thread.dump(1);
      if (thread.at("name").is_string()) names.insert(thread.at("name").get<std::string>());
      for (const auto& frame : thread.at("frames")) {
        if (frame.contains("target")) targets.push_back(frame.at("target"));
        const bool recurses = frame.at("name") == "Hang.Program.Recurse(System.Int32)";
        recursions += recurses;
        if (recurses) {
          EXPECT_TRUE(frame.contains("line") && frame.contains("file")) << frame.dump(1);
        }
      }
    }
    for (const char* name : kStuck) EXPECT_TRUE(names.contains(name)) << name;
    EXPECT_EQ(recursions, 1001u);
    EXPECT_THAT(targets, testing::Contains("ladder_native!ladder_native_park"));
  }
  hang.write_line("STOP");
  EXPECT_EQ(hang.wait(20'000), 0u);
}

TEST_P(Runtimes, RecordOfAStartedProgram) {
  const std::string file = temporary_file("runtimes.mixwalk");
  const ProgramResult result =
      run_program({mixwalk_exe(), "record", "-o", file, "--", program(), "--exit-after-ms", "4000"});
  ASSERT_EQ(result.exit_code, 0u) << result.err;
  const Recording recording = read_whole(file);
  std::set<std::string> whole;
  std::size_t partial = 0;
  for (const Recording::Sample& sample : recording.samples) {
    const std::string& name = recording.threads[sample.thread].name;
    if (is_whole(recording, sample)) {
      whole.insert(name);
    } else {
      ++partial;
    }
  }
  for (const char* name : kStuck) EXPECT_TRUE(whole.contains(name)) << name;
  EXPECT_LE(partial * 100, recording.samples.size());
  remove_file(file);
}

INSTANTIATE_TEST_SUITE_P(, Runtimes, testing::Values("net8.0", "net9.0"),
                         [](const auto& info) {
                           const std::string name = info.param;
                           return name.substr(0, name.find('.'));
                         });

}  // namespace
}  // namespace mixwalk
