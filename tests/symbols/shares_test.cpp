#include "symbols/shares.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>

namespace mixwalk {
namespace {

using std::chrono::milliseconds;

TEST(SharesTest, PathsOfShares) {
  for (const char* path : {R"(\\server\share)", R"(\\server\share\a.pdb)", "//server/share", R"(\\10.0.0.1\c$)"}) {
    EXPECT_TRUE(is_on_share(path)) << path;
  }
  for (const char* path : {"", "\\", R"(\\)", R"(\\server)", R"(\\server\)", R"(\\server\\x)", R"(\\.\pipe\x)",
                           R"(\\?\UNC\server\share)", R"(\\?\C:\x)", R"(C:\x)", "/home/me", R"(\x\y)"}) {
    EXPECT_FALSE(is_on_share(path)) << path;
  }
}

bool is_silent(const std::string& machine) {
  return std::ranges::any_of(silent_shares(), [&](const std::string& line) {
    return line.starts_with(machine + " did not answer");
  });
}

TEST(SharesTest, MachineThatAnswers) {
  const auto result = std::make_shared<int>(0);
  EXPECT_TRUE(ask_share(R"(\\good\x)", [=](const ShareProgress&) { *result = 7; }));
  EXPECT_EQ(*result, 7);
  EXPECT_FALSE(is_silent(R"(\\good)"));
}

TEST(SharesTest, SilenceIsCountedInLooks) {
  SilentLooks looks;
  std::uint64_t progress = 0;
  for (int again = 0; again < 3; ++again, ++progress) {
    for (int i = 1; i < SilentLooks::kLooks; ++i) EXPECT_FALSE(looks.look(progress)) << again << ' ' << i;
  }
  EXPECT_FALSE(looks.look(progress));
  for (int i = 1; i < SilentLooks::kLooks; ++i) EXPECT_FALSE(looks.look(progress)) << i;
  EXPECT_TRUE(looks.look(progress));
}

// The work goes on for longer than the limit, but it is never silent for so long.
TEST(SharesTest, SlowMachineThatSendsSomethingNowAndThen) {
  static constexpr milliseconds kSilence{2'000};
  const auto work = [](const ShareProgress& progress) {
    for (const auto end = std::chrono::steady_clock::now() + kSilence + kSilence / 4;
         std::chrono::steady_clock::now() < end && progress();) {
      std::this_thread::sleep_for(milliseconds(5));
    }
  };
  EXPECT_TRUE(ask_share(R"(\\slow\x)", work, kSilence));
}

TEST(SharesTest, SilentMachineIsNotAskedAgain) {
  const auto end = std::make_shared<std::atomic<bool>>(false);
  const auto last = std::make_shared<std::atomic<int>>(-1);  // whether the work was to go on
  EXPECT_FALSE(ask_share(
      R"(\\Silent\x)",
      [=](const ShareProgress& progress) {
        while (!*end) std::this_thread::sleep_for(milliseconds(1));
        *last = progress() ? 1 : 0;
      },
      milliseconds(20)));
  EXPECT_TRUE(is_silent(R"(\\silent)"));
  EXPECT_FALSE(ask_share(R"(//SILENT/other)", [](const ShareProgress&) { ADD_FAILURE() << "it was asked again"; }));
  EXPECT_TRUE(ask_share(R"(\\another\x)", [](const ShareProgress&) {}));
  EXPECT_EQ(folder_at(R"(\\Silent\x)"), FolderState::silent);
  EXPECT_EQ(folder_at(R"(\\another\x)"), FolderState::missing);
  *end = true;
  while (*last == -1) std::this_thread::yield();
  EXPECT_EQ(*last, 0) << "its thread ends as soon as it can";
}

TEST(SharesTest, FoldersOfThisMachine) {
  EXPECT_EQ(folder_at("."), FolderState::there);
  EXPECT_EQ(folder_at("no such folder"), FolderState::missing);
  EXPECT_EQ(folder_at("\xFF"), FolderState::missing);
}

}  // namespace
}  // namespace mixwalk
