#include "unmanaged/minidump/whole_dump.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/builders/dump_builder.h"

namespace mixwalk {
namespace {

using test::DumpBuilder;

class WholeDump : public testing::Test {
 protected:
  ~WholeDump() override { std::filesystem::remove(path_); }

  std::string why_not(const std::vector<std::byte>& file) const {
    std::ofstream(path_, std::ios::binary).write(reinterpret_cast<const char*>(file.data()),
                                                 static_cast<std::streamsize>(file.size()));
    return why_not_whole(path_);
  }

  const std::string path_ = (std::filesystem::path(testing::TempDir()) / "mixwalk_whole_dump_test.dmp").string();
};

TEST_F(WholeDump, HasAllTheMemoryThatItsTablesPromise) {
  DumpBuilder builder;
  builder.thread({.id = 1}).memory(0x10000, std::vector<std::byte>(0x1000));
  EXPECT_EQ(why_not(builder.build()), "");
  builder.promised(0x20000, 0x300);
  EXPECT_NE(why_not(builder.build()).find("768 bytes of the dump are missing"), std::string::npos);
}

TEST_F(WholeDump, IsADump) {
  EXPECT_EQ(why_not({}), "the file is empty");
  EXPECT_EQ(why_not(DumpBuilder().build()), "the dump lists no threads");
  std::filesystem::remove(path_);
  EXPECT_NE(why_not_whole(path_), "");
}

}  // namespace
}  // namespace mixwalk
