// The same folder is reached under two drive letters.

#include <gtest/gtest.h>
#include <windows.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/remove_tree.h"
#include "tests/support/utf8_path.h"
#include "walker/base/partial_file.h"

namespace mixwalk {
namespace {

namespace fs = std::filesystem;

// Makes the folder available under another drive letter. Wine has one already, because its drive C: also lies on its
// drive Z:. Wine 8's DefineDosDevice reports success, and defines nothing.
class SecondLetter {
 public:
  explicit SecondLetter(const fs::path& folder) {
    using UnixName = char* (*)(const WCHAR*);
    const auto unix_name = reinterpret_cast<UnixName>(
        reinterpret_cast<void*>(GetProcAddress(GetModuleHandleW(L"kernel32"), "wine_get_unix_file_name")));
    if (unix_name != nullptr) {
      char* const name = unix_name(folder.c_str());
      if (name != nullptr) folder_ = fs::path("Z:") += fs::path(name).make_preferred();
      HeapFree(GetProcessHeap(), 0, name);
      return;
    }
    for (wchar_t letter = L'Z'; letter > L'D' && device_.empty(); --letter) {
      const std::wstring device = {letter, L':'};
      if (GetDriveTypeW((device + L"\\").c_str()) == DRIVE_NO_ROOT_DIR &&
          DefineDosDeviceW(0, device.c_str(), folder.c_str())) {
        device_ = device;
        folder_ = device + L"\\";
      }
    }
  }
  ~SecondLetter() {
    if (!device_.empty()) DefineDosDeviceW(DDD_REMOVE_DEFINITION, device_.c_str(), nullptr);
  }
  SecondLetter(const SecondLetter&) = delete;
  SecondLetter& operator=(const SecondLetter&) = delete;
  const fs::path& folder() const { return folder_; }

 private:
  std::wstring device_;
  fs::path folder_;
};

TEST(DriveLetters, AFileOfTwoLettersIsOneFile) {
  const fs::path folder = fs::path(testing::TempDir()) / "mixwalk_drive_letters_test";
  fs::create_directory(folder);
  for (const char* name : {"a", "b"}) std::ofstream(folder / name) << name;
  {
    const SecondLetter second(folder);
    ASSERT_TRUE(fs::exists(second.folder() / "a")) << second.folder();
    ASSERT_NE(second.folder().root_name(), folder.root_name());
    EXPECT_TRUE(would_overwrite(utf8_text(second.folder() / "a"), utf8_text(folder / "a")));
    EXPECT_TRUE(would_overwrite(utf8_text(folder / "a"), utf8_text(second.folder() / "a")));
    EXPECT_FALSE(would_overwrite(utf8_text(second.folder() / "a"), utf8_text(folder / "b")));
  }
  EXPECT_TRUE(remove_tree(folder));
}

}  // namespace
}  // namespace mixwalk
