#include "walker/cli/options/completions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "walker/cli/options/options.h"

namespace mixwalk {
namespace {

TEST(Completions, AreWrittenForEachShell) {
  const ParseResult bash = parse_command_line({"completions", "bash"});
  EXPECT_FALSE(bash.command);
  EXPECT_EQ(bash.exit_code, ExitCode::ok);
  EXPECT_EQ(bash.to_stdout, bash_completions(command_table()));
  EXPECT_EQ(parse_command_line({"completions", "powershell"}).to_stdout, powershell_completions(command_table()));
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"completions"}, {"completions", "fish"},
                                                {"completions", "bash", "bash"}, {"completions", "--", "bash"}}) {
    const ParseResult result = parse_command_line(wrong);
    EXPECT_EQ(result.exit_code, ExitCode::usage) << wrong.back();
    EXPECT_EQ(result.to_stdout, "");
  }
}

TEST(Completions, AreAscii) {
  for (const std::string& script : {bash_completions(command_table()), powershell_completions(command_table())}) {
    EXPECT_TRUE(std::ranges::all_of(script, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
  }
}

// An apostrophe in a help text would end a string of PowerShell.
TEST(Completions, QuoteForPowershell) {
  const CommandInfo command{.name = "dump", .usage = "", .description = "It's a dump…", .examples = "",
                            .options = {{.names = {"-p", "--pid"}, .text = "PID", .help = "Whose?\nThe user's"}}};
  const std::string script = powershell_completions({command});
  EXPECT_NE(script.find("Help = 'It''s a dump...'"), std::string::npos) << script;
  EXPECT_NE(script.find("Help = 'Whose? The user''s'"), std::string::npos) << script;
}

}  // namespace
}  // namespace mixwalk
