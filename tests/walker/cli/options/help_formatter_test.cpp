#include "walker/cli/options/help_formatter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "walker/cli/options/options.h"

namespace mixwalk {
namespace {

using Lines = std::vector<std::string>;

constexpr Abilities kWindows{.processes = true}, kLinux{.processes = false};

std::string help_of(const std::string& command, Abilities abilities) {
  const ParseResult result =
      parse_command_line(command.empty() ? Lines{"--help"} : Lines{command, "--help"}, {}, abilities);
  EXPECT_EQ(result.exit_code, ExitCode::ok);
  return result.to_stdout;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::size_t place_of(const std::string& text, const std::string& part) {
  EXPECT_TRUE(has(text, part)) << part << " is not in:\n" << text;
  return text.find(part);
}

TEST(Wrapped, BreaksBetweenWords) {
  EXPECT_EQ(wrapped("one two  three\nfour", 7), (Lines{"one two", "three", "four"}));
  EXPECT_EQ(wrapped("aaaaaaaaaa b", 3), (Lines{"aaaaaaaaaa", "b"})) << "a long word stays whole";
  EXPECT_EQ(wrapped("ää öö", 5), (Lines{"ää öö"})) << "characters count, not bytes";
  EXPECT_EQ(wrapped("", 5), Lines{});
}

TEST(HelpText, HasItsParts) {
  const HelpText text = help_text("Does this. And that.\n\nA note.\n\nExamples:\n  mixwalk a\n  mixwalk b");
  EXPECT_EQ(text.summary, "Does this. And that.");
  EXPECT_EQ(text.notes, Lines{"A note."});
  EXPECT_EQ(text.examples, (Lines{"mixwalk a", "mixwalk b"}));
  EXPECT_EQ(help_text("Only this.").summary, "Only this.");
  EXPECT_EQ(help_text("").summary, "");
}

TEST(Help, HasNoLineOfMoreThan100Columns) {
  for (const Abilities abilities : {kWindows, kLinux}) {
    for (const std::string command :
         {"", "ps", "dump", "record", "convert", "symbolise", "compare", "report", "doctor", "completions"}) {
      std::istringstream lines(help_of(command, abilities));
      int count = 0;
      for (std::string line; std::getline(lines, line); ++count) {
        const auto columns = std::ranges::count_if(line, [](char byte) { return (byte & 0xC0) != 0x80; });
        EXPECT_LE(columns, 100) << command << ": " << line;
        EXPECT_FALSE(line.ends_with(' ')) << command << ": " << line;
      }
      EXPECT_GT(count, 5) << command;
    }
  }
}

// What most people need is read first.
TEST(Help, OfDumpEndsWithWhatExpertsNeed) {
  const std::string help = help_of("dump", kWindows);
  const std::vector<std::string> order = {"Prints the complete call stacks",
                                          "Usage: mixwalk dump",
                                          "Examples:",
                                          "  -p, --process-id PID",
                                          "  -n, --name NAME",
                                          "--thread, --threads",
                                          "--output FILE",
                                          "--format",
                                          "  --depth N",
                                          "\n  --at-once ",
                                          "For experts:",
                                          "--engine ENGINE",
                                          "--help"};
  for (std::size_t i = 1; i < order.size(); ++i) {
    EXPECT_LT(place_of(help, order[i - 1]), place_of(help, order[i])) << order[i - 1] << ", " << order[i];
  }
  for (const std::string expert : {"--canary", "--probe", "--deadline", "--timeout", "--dac", "--inside"}) {
    EXPECT_GT(place_of(help, "  " + expert), place_of(help, "For experts:")) << expert;
  }
}

TEST(Help, OfAMixwalkThatCannotLookAtProcessesHasOnlyWhatItCan) {
  const std::string all = help_of("", kLinux);
  for (const std::string command : {"convert", "symbolise", "compare", "report", "dump"}) {
    EXPECT_TRUE(has(all, "\n  " + command + " ")) << command;
  }
  for (const std::string command : {"ps", "record", "doctor"}) {
    EXPECT_FALSE(has(all, "\n  " + command + " ")) << command;
    EXPECT_TRUE(has(help_of("", kWindows), "\n  " + command + " ")) << command;
  }
  const std::string dump = help_of("dump", kLinux);
  EXPECT_TRUE(has(dump, "Usage: mixwalk dump [OPTIONS] FILE.dmp\n")) << dump;
  for (const std::string option : {"--thread", "--output", "--format", "--depth", "--symbol-path", "--verbose"}) {
    EXPECT_TRUE(has(dump, option)) << option;
  }
  for (const std::string none : {"--process-id", "--name", "--outside", "--inside", "--engine", "--repeat", "--wait",
                                 "--dac", "PROGRAM", "-o NAME.dmp", "of the process"}) {
    EXPECT_FALSE(has(dump, none)) << none << '\n' << dump;
  }
}

TEST(Help, OfAMixwalkThatCannotLookAtProcessesIsNotNeededToNameAnOption) {
  for (const Abilities abilities : {kWindows, kLinux}) {
    EXPECT_EQ(parse_command_line({"dump", "-p"}, {}, abilities).to_stderr,
              "mixwalk: --process-id needs a value (see mixwalk dump --help)\n");
    EXPECT_EQ(parse_command_line({"dump", "a.dmp", "--at-once=maybe"}, {}, abilities).to_stderr,
              "mixwalk: --at-once takes no value (see mixwalk dump --help)\n");
  }
  EXPECT_EQ(
      parse_command_line({"nothing-like-it"}, {}, kLinux).to_stderr,
      "mixwalk: there is no command \"nothing-like-it\": dump, convert, symbolise, compare, report or completions "
      "(see mixwalk --help)\n");
}

TEST(Help, OfAMixwalkThatCannotLookAtProcessesSaysWhatWorks) {
  const auto said = [](const Lines& line) { return parse_command_line(line, {}, kLinux).to_stderr; };
  EXPECT_EQ(said({"dump"}),
            "mixwalk: dump needs a dump file, or - for standard input; processes are looked at on Windows (see mixwalk "
            "dump --help)\n");
  EXPECT_EQ(said({"record"}),
            "mixwalk: record works on Windows only; here there are dump, convert, symbolise, compare, report and "
            "completions (see mixwalk --help)\n");
  EXPECT_TRUE(has(help_of("record", kLinux), "Only on Windows. ")) << help_of("record", kLinux);
  for (const std::string command : {"dump", "compare", "report"}) {
    EXPECT_TRUE(has(said({command, "a", "--dac", "b"}), "--dac works on Windows only")) << command;
    EXPECT_FALSE(has(help_of(command, kLinux), "--dac")) << command;
  }
}

// It is parsed nevertheless, so that the answer is not "there is no option".
TEST(Help, LeavesOutNothingThatIsParsed) {
  for (const Lines& line : std::vector<Lines>{{"ps"}, {"dump", "-p", "1", "--outside"}, {"record", "-n", "orders"}}) {
    EXPECT_TRUE(parse_command_line(line, {}, kLinux).command) << line.front();
  }
}

}  // namespace
}  // namespace mixwalk
