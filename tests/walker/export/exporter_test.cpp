#include "walker/export/exporter.h"

#include <gtest/gtest.h>

#include <memory>

#include "tests/support/snapshot_builder.h"
#include "walker/export/json.h"
#include "walker/export/text.h"

namespace mixwalk {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

File golden(const char* mode) {
  return {std::fopen((std::string(MIXWALK_GOLDEN) + "/dump.txt").c_str(), mode), &std::fclose};
}

TEST(FileSink, WritesAllBytes) {
  const std::string path = testing::TempDir() + "mixwalk_file_sink_test";
  {
    const File file(std::fopen(path.c_str(), "wb"), &std::fclose);
    ASSERT_TRUE(file) << path;
    EXPECT_TRUE(FileSink(file.get()).write(std::string_view("a\0b", 3)));
    EXPECT_EQ(std::ftell(file.get()), 3);
  }
  std::remove(path.c_str());
}

TEST(FileSink, SaysWhenTheStreamTakesNothing) {
  const File file = golden("rb");
  ASSERT_TRUE(file);
  FileSink sink(file.get());
  EXPECT_FALSE(sink.write("x"));
  EXPECT_FALSE(TextExporter({}).write(representative_snapshot(), sink));
  EXPECT_FALSE(JsonExporter({}).write(representative_snapshot(), sink));
}

}  // namespace
}  // namespace mixwalk
