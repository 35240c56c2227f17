// Another tool has an EventPipe session with the program at the same time. Both tools must get their data.

#include <gtest/gtest.h>

#include "tests/hunt/hunt.h"

namespace mixwalk {
namespace {

TEST(BesideAnotherTool, BothGetTheirSamples) {
  const ScopedEnvironment environment(dynamic_methods_may_end());
  const Situation situation{.name = "tasks"};
  HuntedProgram control(situation), hunted(situation);
  const std::string file = temporary_file("other.nettrace");
  const auto listen_to = [&](const HuntedProgram& program, const std::string& out) {
    return std::vector<std::string>{fixture("eventpipe.exe"), program.id(), out};
  };
  ChildProcess other(listen_to(hunted, file)), other_control(listen_to(control, file + "-control"));
  ASSERT_EQ(other.read_line().value_or("(closed)"), "READY");
  ASSERT_EQ(other_control.read_line().value_or("(closed)"), "READY");
  other.write_line("BEGIN");
  other_control.write_line("BEGIN");
  Seen seen;
  const std::string time = hunt_duration();
  visit(hunted.id(), {"record", "-i", "1ms", "--budget", "0", "-d", time}, situation, seen);
  visit(hunted.id(), {"dump"}, situation, seen);
  visit(hunted.id(), {"record", "--on", "exception", "-d", time}, situation, seen);
  for (ChildProcess* tool : {&other, &other_control}) {
    tool->write_line("END");
    const std::string line = tool->read_line().value_or("(closed)");
    EXPECT_TRUE(line.starts_with("OK ")) << line;
    EXPECT_EQ(tool->wait(60'000), 0u);
    std::printf("the other tool: %s\n", line.c_str());
  }
  judge(situation, seen, hunted.stop(), control.stop());
  remove_file(file);
  remove_file(file + "-control");
}

}  // namespace
}  // namespace mixwalk
