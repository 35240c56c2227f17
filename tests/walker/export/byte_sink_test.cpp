#include "walker/base/byte_sink.h"

#include <gtest/gtest.h>

#include <memory>

#include "tests/builders/snapshot_builder.h"
#include "walker/export/json.h"
#include "walker/export/text.h"

namespace mixwalk {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

class FileSinkTest : public testing::Test {
 protected:
  ~FileSinkTest() override { std::remove(path_.c_str()); }
  File open(const char* mode) const { return {std::fopen(path_.c_str(), mode), &std::fclose}; }

  const std::string path_ = testing::TempDir() + "mixwalk_file_sink_test";
};

TEST_F(FileSinkTest, WritesAllBytes) {
  const File file = open("wb");
  ASSERT_TRUE(file) << path_;
  EXPECT_TRUE(FileSink(file.get()).write(std::string_view("a\0b", 3)));
  EXPECT_EQ(std::ftell(file.get()), 3);
}

TEST_F(FileSinkTest, SaysWhenTheStreamTakesNothing) {
  open("wb");
  const File file = open("rb");
  ASSERT_TRUE(file) << path_;
  FileSink sink(file.get());
  EXPECT_FALSE(sink.write("x"));
  EXPECT_FALSE(write_text(representative_snapshot(), {}, sink));
  EXPECT_FALSE(write_json(representative_snapshot(), {}, sink));
}

}  // namespace
}  // namespace mixwalk
