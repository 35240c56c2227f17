#include "walker/cli/input_names.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

using Names = std::vector<std::string>;

FolderListing some_files(const std::filesystem::path& folder) {
  if (folder == "C:\\dumps\\" || folder == ".") {
    return {.files = {"a.dmp", "a.mixwalk", "B.mixwalk", "b.symbolised.mixwalk", "readme", "\xC3\xBC.mixwalk"},
            .error = {}};
  }
  return {.files = {}, .error = "No such file or directory"};
}

TEST(FitsWildcards, AsWindowsUsersExpect) {
  for (const auto& [pattern, name] : std::vector<std::pair<std::string, std::string>>{
           {"*", "a"}, {"*.mixwalk", "a.MIXWALK"}, {"A?.mixwalk", "ab.mixwalk"}, {"a*b*c", "aXbXbXc"}, {"*a", "aaa"},
           {"**", ""}, {"?.x", "\xE2\x82\xAC.x"}, {"*.*", "readme"}, {"*.*", "a.b"}, {"readme.*", "readme"},
           {"a", "A"}, {"dump??.mixwalk", "dump1.mixwalk"}, {"a?", "a"}}) {
    EXPECT_TRUE(fits_wildcards(pattern, name)) << pattern << " " << name;
  }
  for (const auto& [pattern, name] : std::vector<std::pair<std::string, std::string>>{
           {"*.mix", "a.mixwalk"}, {"?.x", "ab.x"}, {"a?b", "a.b"}, {"a*", "ba"}, {"*.x", "x"}, {"a.*", "ab"}, {"", "a"}}) {
    EXPECT_FALSE(fits_wildcards(pattern, name)) << pattern << " " << name;
  }
}

// A pattern that tries each * again for each other would take years.
TEST(FitsWildcards, TakesNoTime) {
  std::string pattern;
  for (int i = 0; i < 50; ++i) pattern += "*a";
  EXPECT_FALSE(fits_wildcards(pattern + "b", std::string(10'000, 'a')));
}

TEST(ExpandNames, OfTheLastPartOfAPath) {
  Names names = {"first.dmp", "C:\\dumps\\?.mixwalk"};
  EXPECT_FALSE(expand_names(names, &some_files));
  EXPECT_EQ(names, (Names{"first.dmp", "C:\\dumps\\a.mixwalk", "C:\\dumps\\B.mixwalk", "C:\\dumps\\\xC3\xBC.mixwalk"}));
  names = {"B.mixwalk", "*.mixwalk"};
  EXPECT_FALSE(expand_names(names, &some_files));
  EXPECT_EQ(names, (Names{"B.mixwalk", "a.mixwalk", "b.symbolised.mixwalk", "\xC3\xBC.mixwalk"})) << "none twice";
  names = {"\\\\?\\C:\\dumps\\a.mixwalk"};
  EXPECT_FALSE(expand_names(names, &some_files));
  EXPECT_EQ(names, Names{"\\\\?\\C:\\dumps\\a.mixwalk"}) << "the prefix is no wildcard";
}

TEST(ExpandNames, WhatCannotBeMeant) {
  const auto refused = [](const std::string& name) {
    Names names = {name};
    const auto failure = expand_names(names, &some_files);
    if (!failure) return std::string();
    EXPECT_EQ(failure->code, ExitCode::input);
    return failure->message;
  };
  EXPECT_EQ(refused("*.txt"), "cannot read \"*.txt\": no file in the current folder has such a name");
  EXPECT_EQ(refused("C:\\dumps\\x*"),
            "cannot read \"C:\\dumps\\x*\": no file in \"C:\\dumps\\\" has such a name");
  EXPECT_EQ(refused("C:\\none\\*"), "cannot read \"C:\\none\\*\": its folder: No such file or directory");
  EXPECT_EQ(refused("C:\\*\\a.mixwalk"),
            "cannot read \"C:\\*\\a.mixwalk\": * and ? can stand in the name of a file only, not in that of a folder");
}

TEST(ExpandNames, ElsewhereMeansWhatItSays) {
  Names names = {"*.mixwalk"};
  EXPECT_FALSE(expand_names(names, {}));
  EXPECT_EQ(names, Names{"*.mixwalk"});
}

// The command of a command line, after its names were replaced.
Command expanded(const Names& line) {
  ParseResult parsed = parse_command_line(line);
  EXPECT_TRUE(parsed.command) << parsed.to_stderr;
  const auto failure = expand_inputs(*parsed.command, &some_files);
  EXPECT_FALSE(failure) << failure->message;
  return std::move(*parsed.command);
}

TEST(ExpandInputs, OfEachCommandThatReadsFiles) {
  EXPECT_EQ(std::get<HangCommand>(expanded({"compare", "*.mixwalk", "--across"})).files.size(), 4u);
  EXPECT_EQ(std::get<HangCommand>(expanded({"report", "a.m*"})).files, Names{"a.mixwalk"});
  EXPECT_EQ(std::get<DumpFileCommand>(expanded({"dump", "*.dmp"})).file, "a.dmp");
  EXPECT_EQ(std::get<ConvertCommand>(expanded({"convert", "a.m*", "-f", "text"})).input, "a.mixwalk");
  const auto symbolise = std::get<SymboliseCommand>(expanded({"symbolise", "a.m*"}));
  EXPECT_EQ(symbolise.input, "a.mixwalk");
  EXPECT_EQ(symbolise.output, "a.symbolised.mixwalk");
}

TEST(ExpandInputs, OneFileIsOne) {
  ParseResult parsed = parse_command_line({"report", "*.mixwalk"});
  ASSERT_TRUE(parsed.command);
  const auto failure = expand_inputs(*parsed.command, &some_files);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code, ExitCode::usage);
  EXPECT_TRUE(failure->message.starts_with("report takes one file, and \"*.mixwalk\" means 4: \"a.mixwalk\", "))
      << failure->message;
}

}  // namespace
}  // namespace mixwalk
