// Programs that another user runs. Every process and thread of a target must be opened by walker/session/win/token.h,
// which tries again with SeDebugPrivilege. The test reads the sources, since Wine has only one user.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "tests/support/repository_files.h"
#include "tests/support/utf8_path.h"

namespace mixwalk {
namespace {

std::string file_text(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

TEST(TargetRights, OnlyTokenOpensProcessesAndThreads) {
  if (in_bundle()) GTEST_SKIP() << "the bundle has no sources";
  const std::regex plain("\\bOpen(Process|Thread)\\(");
  std::size_t in_token = 0;
  for (const char* folder : {"walker/cli", "walker/outside", "walker/session"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(utf8_path(repository_file(folder)))) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".cpp" && extension != ".h") continue;
      const bool found = std::regex_search(file_text(entry.path()), plain);
      if (entry.path().filename() == "token.cpp") {
        in_token += found;
      } else {
        EXPECT_FALSE(found) << entry.path() << ": use open_process, open_thread of walker/session/win/token.h";
      }
    }
  }
  EXPECT_EQ(in_token, 1u) << "the pattern finds no call any more";
}

}  // namespace
}  // namespace mixwalk
