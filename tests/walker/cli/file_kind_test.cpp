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

}  // namespace
}  // namespace mixwalk
