// A folder whose path is longer than the 260 characters of MAX_PATH.

#include <gtest/gtest.h>
#include <windows.h>

#include <filesystem>
#include <string>

#include "unmanaged/win/unique_handle.h"
#include "walker/base/list_folder.h"

namespace mixwalk {
namespace {

TEST(ListLongFolder, HasItsFiles) {
  const std::wstring root = std::filesystem::temp_directory_path().native() + L"mixwalk_long_folder_test";
  const std::wstring unlimited = L"\\\\?\\", name(200, L'n');
  const std::wstring folder = root + L"\\" + name + L"\\" + name;
  for (const std::wstring& each : {root, root + L"\\" + name, folder}) {
    EXPECT_TRUE(CreateDirectoryW((unlimited + each).c_str(), nullptr) || GetLastError() == ERROR_ALREADY_EXISTS);
  }
  const std::wstring file = unlimited + folder + L"\\a.mixwalk";
  EXPECT_TRUE(UniqueHandle(CreateFileW(file.c_str(), GENERIC_WRITE, 0, nullptr, CREATE_ALWAYS, 0, nullptr)));
  for (const std::wstring& as : {folder, unlimited + folder, folder + L"\\"}) {
    const FolderListing listing = list_folder(as);
    EXPECT_EQ(listing.error, "");
    EXPECT_EQ(listing.files, std::vector<std::string>{"a.mixwalk"});
  }
  EXPECT_TRUE(DeleteFileW(file.c_str()));
  for (const std::wstring& each : {folder, root + L"\\" + name, root}) {
    EXPECT_TRUE(RemoveDirectoryW((unlimited + each).c_str()));
  }
}

}  // namespace
}  // namespace mixwalk
