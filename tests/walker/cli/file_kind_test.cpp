#include "walker/cli/file_kind.h"

#include <gtest/gtest.h>

#include "tests/support/golden.h"
#include "walker/cli/options/command_table.h"

namespace mixwalk {
namespace {

TEST(FileKindTest, OfEachGolden) {
  EXPECT_EQ(file_kind(file_text(golden_file("dump.mixwalk"))), FileKind::dump);
  EXPECT_EQ(file_kind(file_text(golden_file("wall.mixwalk"))), FileKind::recording);
  EXPECT_EQ(file_kind(file_text(golden_file("dump.json"))), FileKind::json);
  EXPECT_EQ(file_kind(file_text(golden_file("hang-deadlock.json"))), FileKind::other);
  EXPECT_EQ(file_kind("MDMP"), FileKind::minidump);
  EXPECT_EQ(file_kind(file_text(golden_file("wall.mixwalk")).substr(0, 20)), FileKind::other) << "the header is cut";
  EXPECT_EQ(file_kind(""), FileKind::other);
}

TEST(FileKindTest, EachRefusalNamesCommandsThatTakeTheFile) {
  int refusals = 0;
  for (const FileKind kind : {FileKind::dump, FileKind::recording, FileKind::minidump, FileKind::json}) {
    for (const std::string command : {"convert", "symbolise", "compare", "report", "dump"}) {
      const std::string why = kind_refusal(command, kind);
      if (why.empty()) continue;
      ++refusals;
      EXPECT_NE(why.find(", which " + command + " does not take: "), std::string::npos) << why;
      const std::string takers = why.substr(why.find(": ") + 2);
      bool names_one = false;
      for (const CommandInfo& other : command_table()) {
        if (other.name.empty() || takers.find(other.name) == std::string::npos) continue;
        names_one = true;
        EXPECT_EQ(kind_refusal(other.name, kind), "");
      }
      EXPECT_TRUE(names_one) << why;
    }
  }
  EXPECT_EQ(refusals, 8);
  EXPECT_EQ(kind_refusal("dump", FileKind::other), "");
  EXPECT_EQ(kind_refusal("report", FileKind::recording),
            "it is a recording, which report does not take: convert, symbolise and compare do");
}

TEST(FileKindTest, AFileOfAnotherKindIsNamedAndWhatTheCommandTakes) {
  EXPECT_EQ(other_file_refusal("convert", ""), "it is empty; convert takes .mixwalk files");
  EXPECT_EQ(other_file_refusal("symbolise", "hello\n"), "it is a text file; symbolise takes .mixwalk files");
  EXPECT_EQ(other_file_refusal("report", "PK\x03\x04"),
            "it is compressed: unpack it, and give the file inside; report takes .mixwalk files, minidumps (.dmp) and "
            "dumps in JSON (mixwalk dump -f json)");
  EXPECT_TRUE(other_file_refusal("report", "\x1F\x8B").starts_with("it is compressed"));
  EXPECT_TRUE(other_file_refusal("compare", file_text(golden_file("hang-deadlock.json")))
                  .starts_with("it has findings of mixwalk compare, not a dump; compare takes "));
  EXPECT_TRUE(other_file_refusal("compare", "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\"")
                  .starts_with("it is a profile for speedscope; "));
  EXPECT_TRUE(other_file_refusal("compare", "{}").starts_with("it is JSON, but no dump of mixwalk; "));
  EXPECT_TRUE(other_file_refusal("compare", "<!doctype html>").starts_with("it is a page for a browser; "));
  EXPECT_TRUE(other_file_refusal("compare", "MZ\x90").starts_with("it is a program or a DLL; "));
  EXPECT_TRUE(other_file_refusal("compare", "\x7F""ELF\x02").starts_with("it is a program or a core dump of Linux; "));
  EXPECT_TRUE(other_file_refusal("compare", "Nettrace\x14").starts_with("it is a trace of dotnet-trace; "));
  EXPECT_TRUE(other_file_refusal("compare", "\x01\x02").starts_with("it is of no kind that mixwalk reads; "));
  EXPECT_EQ(other_file_refusal("report", file_text(golden_file("dump.mixwalk")).substr(0, 5)),
            "it is a .mixwalk file that ends within its header");
}

}  // namespace
}  // namespace mixwalk
