// A program that hot reload has changed while it runs: the PDB describes the file, and not what was changed or added.

#include <gtest/gtest.h>

#include "tests/end_to_end/dumped_threads.h"
#include "tests/end_to_end/recorded_file.h"
#include "tests/support/win/child_process.h"

namespace mixwalk {
namespace {

using Json = nlohmann::json;
using Texts = std::vector<std::string>;

// What the added method is called by whoever reads no deltas of metadata.
constexpr const char* kAdded = "[method 0600000B, added by hot reload](?)";

class HotReload : public testing::Test {
 protected:
  explicit HotReload(const char* program = "reload.exe")
      : program_({fixture(program)}, {.environment = {{"DOTNET_MODIFIABLE_ASSEMBLIES", "debug"}}}) {
    EXPECT_TRUE(program_.read_line().value_or("(closed)").starts_with("READY "));
  }
  ~HotReload() override {
    program_.write_line("STOP");
    EXPECT_EQ(program_.wait(30'000), 0u);
  }

  // The names of the program's own frames, leaf first, without its type; a '+' behind those that have a line.
  static Texts own_frames(const Json& dump, const std::string& name) {
    constexpr std::string_view kType = "Reload.Program.";
    Texts found;
    const Json* const thread = dumped_thread(dump, name);
    for (const Json& frame : thread != nullptr ? thread->at("frames") : Json::array()) {
      const std::string text = frame.value("display", "");
      if (!text.starts_with(kType)) continue;
      EXPECT_EQ(frame.at("kind"), "managed") << text;
      found.push_back(text.substr(kType.size()) + (frame.value("line", 0) != 0 ? "+" : ""));
    }
    return found;
  }
  void expect_no_stale_lines(const Json& dump, const std::string& added) {
    EXPECT_EQ(own_frames(dump, "old"), (Texts{"Wait()+", "Changed()", "Unchanged()+"}));
    EXPECT_EQ(own_frames(dump, "new"), (Texts{"Wait()+", added, "Changed()", "Unchanged()+"}));
  }
  Json dump_file() const {
    const std::string file = temporary_file("hot_reload.dmp");
    EXPECT_EQ(run_program({mixwalk_exe(), "dump", "-p", std::to_string(program_.id()), "-o", file}).exit_code, 0u);
    const ProgramResult shown = run_program({mixwalk_exe(), "dump", file, "-f", "json"});
    EXPECT_EQ(shown.exit_code, 0u) << shown.err;
    remove_file(file);
    return Json::parse(shown.out, nullptr, false);
  }

  ChildProcess program_;
};

TEST_F(HotReload, FromInside) {
  expect_no_stale_lines(dump_as_json(program_.id(), {"--inside", "--wait", "10s"}), "Added()");
}

TEST_F(HotReload, FromOutsideByTheRuntimesContracts) {
  const Json dump = dump_as_json(program_.id(), {"--outside", "--runtime-data", "contracts"});
  expect_no_stale_lines(dump, kAdded);
}

TEST_F(HotReload, FromOutsideByTheDebuggingLibrary) {
  const Json dump = dump_as_json(program_.id(), {"--outside", "--runtime-data", "dac"});
  expect_no_stale_lines(dump, kAdded);
}

TEST_F(HotReload, DumpFile) { expect_no_stale_lines(dump_file(), kAdded); }

class HotReloadOfNet8 : public HotReload {
 protected:
  HotReloadOfNet8() : HotReload("..\\fixtures-net8.0\\reload.exe") {}
};

// .NET 8 has no data contracts, so the debugging library answers. Real case: the new body had a line of the old PDB,
// and the added method was Unknown(?).
TEST_F(HotReloadOfNet8, EachWay) {
  expect_no_stale_lines(dump_as_json(program_.id(), {"--outside"}), kAdded);
  expect_no_stale_lines(dump_file(), kAdded);
  expect_no_stale_lines(dump_as_json(program_.id(), {"--inside", "--wait", "10s"}), "Added()");
}

}  // namespace
}  // namespace mixwalk
