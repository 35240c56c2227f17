#include "walker/otlp/private_folder.h"

#include <gtest/gtest.h>
#include <windows.h>

#include <aclapi.h>
#include <sddl.h>

#include <fstream>

#include "tests/support/remove_tree.h"
#include "unmanaged/win/utf8.h"
#include "walker/session/win/token.h"

namespace mixwalk {
namespace {

namespace fs = std::filesystem;

// Returns the rights that the path has according to Windows, as SDDL.
std::string rights(const fs::path& path) {
  PSECURITY_DESCRIPTOR descriptor = nullptr;
  EXPECT_EQ(GetNamedSecurityInfoW(const_cast<wchar_t*>(path.c_str()), SE_FILE_OBJECT,
                                  DACL_SECURITY_INFORMATION, nullptr, nullptr, nullptr, nullptr,
                                  &descriptor),
            DWORD{ERROR_SUCCESS});
  LPWSTR text = nullptr;
  EXPECT_TRUE(ConvertSecurityDescriptorToStringSecurityDescriptorW(
      descriptor, SDDL_REVISION_1, DACL_SECURITY_INFORMATION, &text, nullptr));
  const std::string sddl = text == nullptr ? "" : to_utf8(text);
  LocalFree(text);
  LocalFree(descriptor);
  return sddl;
}

class PrivateFolderTest : public testing::Test {
 protected:
  void SetUp() override { EXPECT_TRUE(remove_tree(folder_)); }
  void TearDown() override { EXPECT_TRUE(remove_tree(folder_)); }

  // All rights belong to the user. (Wine reports for every file that LocalSystem may read it, and stores only those of
  // the other rights that a Unix mode can express.)
  static void expect_private(const fs::path& path) {
    const std::string sddl = rights(path);
    const std::string user = ";;;" + token_facts(GetCurrentProcess())->user + ")";
    EXPECT_NE(sddl.find(user), sddl.npos) << sddl;
    for (std::size_t end = sddl.find(')'); end != sddl.npos; end = sddl.find(')', end + 1)) {
      const std::string up_to_here = sddl.substr(0, end + 1);
      EXPECT_TRUE(up_to_here.ends_with(user) || up_to_here.ends_with(";;;SY)")) << sddl;
    }
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / "mixwalk_private_folder_test" / "spool";
};

TEST_F(PrivateFolderTest, IsMadeForItsUser) {
  EXPECT_EQ(make_private_folder(folder_), "");
  expect_private(folder_);
}

TEST_F(PrivateFolderTest, OneThatIsThereBecomesSo) {
  fs::create_directories(folder_);
  EXPECT_EQ(make_private_folder(folder_), "");
  expect_private(folder_);
}

TEST_F(PrivateFolderTest, AFileIsNoFolder) {
  fs::create_directories(folder_.parent_path());
  std::ofstream(folder_) << "x";
  EXPECT_EQ(make_private_folder(folder_), "it is no folder");
}

}  // namespace
}  // namespace mixwalk
