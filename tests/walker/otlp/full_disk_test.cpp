// The disk becomes full in the middle of a request; on Linux a file limit has the same effect.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "tests/support/remove_tree.h"
#include "walker/otlp/spool.h"

namespace mixwalk {
namespace {

namespace fs = std::filesystem;

// No file of this process may grow beyond this many bytes.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST(FullDisk, LeavesNoRequestThatIsNotWhole) {
  const fs::path folder = fs::path(testing::TempDir()) / "mixwalk_full_disk_test";
  EXPECT_TRUE(remove_tree(folder));
  Spool spool(folder, {.host = "localhost"});
  ASSERT_EQ(spool.add("before"), "");
  {
    const FileLimit limit(100'000);
    EXPECT_EQ(spool.add(std::string(300'000, 'a')), "File too large");
  }
  EXPECT_EQ(spool.waiting().size(), 1u);
  EXPECT_EQ(std::distance(fs::directory_iterator(spool.folder()), {}), 2) << "and the lock";
  EXPECT_EQ(spool.add("after"), "");
  EXPECT_TRUE(remove_tree(folder));
}

}  // namespace
}  // namespace mixwalk
