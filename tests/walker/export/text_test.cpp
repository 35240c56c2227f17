#include "walker/export/text.h"

#include <gtest/gtest.h>

#include "tests/support/golden.h"
#include "tests/support/snapshot_builder.h"

namespace mixwalk {
namespace {

std::string text_of(const Snapshot& snapshot, const TextExporter::Options& options = {}) {
  StringSink sink;
  EXPECT_TRUE(TextExporter(options).write(snapshot, sink));
  return sink.text;
}

TEST(Text, OneOfEverything) { expect_golden("dump.txt", text_of(representative_snapshot())); }

TEST(Text, InColour) {
  expect_golden("dump-colour.txt", text_of(representative_snapshot(), {.colour = true}));
}

TEST(Text, ManagedOnlyAndDepth) {
  const std::string text =
      text_of(representative_snapshot(), {.filter = {.managed_only = true, .depth = 1}});
  EXPECT_NE(text.find("only managed frames are shown"), std::string::npos);
  EXPECT_NE(text.find("Orders.Client.Fetch"), std::string::npos);
  EXPECT_EQ(text.find("Orders.Program.Main"), std::string::npos);
  EXPECT_NE(text.find("… 1 more frame\n"), std::string::npos) << text;
  EXPECT_EQ(text.find(" N  "), std::string::npos);
}

TEST(Text, ControlCharactersNeverReachATerminal) {
  const std::string text = text_of(representative_snapshot());
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\x7f'), std::string::npos);
  EXPECT_NE(text.find("\\x1b[31mName\\x0a"), std::string::npos);
}

TEST(Text, ANameWithoutEndIsCutBetweenCharacters) {
  Snapshot snapshot = representative_snapshot();
  std::string name;
  for (int i = 0; i < 5000; ++i) name += "ü";
  snapshot.threads[0].stack.frames[3].name = "x" + name;
  const std::string text = text_of(snapshot);
  EXPECT_LT(text.size(), 10'000u);
  EXPECT_NE(text.find("ü…"), std::string::npos);
}

TEST(Text, ASinkThatIsFullEndsIt) {
  class Full final : public ByteSink {
   public:
    bool write(std::string_view) override { return ++writes < 2; }
    int writes = 0;
  } sink;
  EXPECT_FALSE(TextExporter({}).write(representative_snapshot(), sink));
  EXPECT_EQ(sink.writes, 2);
}

}  // namespace
}  // namespace mixwalk
