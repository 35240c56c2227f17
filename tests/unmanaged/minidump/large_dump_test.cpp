// How much memory a dump takes while its memory is read, on Linux.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/builders/dump_builder.h"
#include "unmanaged/minidump/dump_memory.h"

namespace mixwalk {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargeBytes = std::uint64_t{4} << 30, kBegin = 0x10'0000'0000;
constexpr std::size_t kMostKiB = 8 << 10;

// The pages of files that this process has in memory.
std::size_t file_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "RssFile:") continue;
    std::size_t kib = 0;
    status >> kib;
    return kib;
  }
  return 0;
}

// Folklore: the system maps the pages around each page of a mapped file that is touched, and all of them count as
// memory of the process. Real case: all stacks of a dump of 150 MB took 107 MB.
TEST(LargeDump, TheMemoryThatWasReadIsNotKept) {
  const fs::path path = fs::temp_directory_path() / "mixwalk-large-dump-test.dmp";
  test::DumpBuilder dump;
  dump.thread({.id = 1}).memory(kBegin, {std::byte{1}}).promised(kBegin + 1, kLargeBytes - 1);
  const std::vector<std::byte> bytes = dump.build();
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()),
                                              static_cast<std::streamsize>(bytes.size()));
  fs::resize_file(path, bytes.size() + kLargeBytes - 1);  // a hole, which takes no room on the disk
  {
    const MappedFile file(path.string());
    const Minidump read = Minidump::parse(file);
    ASSERT_EQ(read.missing_bytes(), 0u);
    const DumpMemory memory(read);
    const std::size_t before = file_kib();
    ASSERT_GT(before, 0u);
    for (std::uint64_t at = 0; at < kLargeBytes; at += 256 << 10) {
      ASSERT_EQ(memory.read_value<std::uint8_t>(kBegin + at), at == 0 ? 1 : 0);
    }
    EXPECT_LE(file_kib(), before + kMostKiB);
  }
  fs::remove(path);
}

}  // namespace
}  // namespace mixwalk
