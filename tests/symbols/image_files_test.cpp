#include "symbols/image_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace mixwalk {
namespace {

TEST(DiskImageFilesTest, FileIsReadWhole) {
  const std::u8string path =
      (std::filesystem::path(testing::TempDir()) / u8"mixwalk-ä.bin").u8string();
  const std::string text("MZ\0\r\n\x1A!", 7);  // a text conversion would change these bytes
  std::ofstream(std::filesystem::path(path), std::ios::binary) << text;
  const auto bytes = DiskImageFiles().read(std::string(path.begin(), path.end()));
  std::filesystem::remove(path);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size()), text);
}

TEST(DiskImageFilesTest, MissingFileIsNothing) {
  EXPECT_FALSE(DiskImageFiles().read("no/such/file.dll"));
  EXPECT_FALSE(DiskImageFiles().read(""));
}

TEST(DiskImageFilesTest, FolderIsNothing) {
  EXPECT_FALSE(DiskImageFiles().read(testing::TempDir()));
}

// The path is neither UTF-8 nor a real path; a hang dump may contain any bytes.
TEST(DiskImageFilesTest, DamagedPathIsNothing) {
  EXPECT_FALSE(DiskImageFiles().read("\xFF\xFE\xC0.dll"));
}

// Records the paths that it was asked for.
class AskedFiles final : public ImageFiles {
 public:
  std::optional<std::vector<std::byte>> read(const std::string& path) override {
    asked.push_back(path);
    return std::vector<std::byte>(1);
  }
  std::vector<std::string> asked;
};

TEST(LocalImageFilesTest, ADriveIsRead) {
  for (const std::string path : {R"(C:\Windows\ntdll.dll)", R"(z:\x.dll)", R"(\\?\D:\long\x.dll)"}) {
    AskedFiles files;
    EXPECT_TRUE(LocalImageFiles(files).read(path)) << path;
    EXPECT_EQ(files.asked, std::vector<std::string>{path}) << "as it was written";
  }
}

TEST(LocalImageFilesTest, OtherMachinesAndDevicesAreNotTouched) {
  for (const std::string path :
       {R"(\\server\share\x.dll)", "//server/share/x.dll", R"(\\?\UNC\server\share\x.dll)",
        R"(\\.\pipe\x)", R"(\\.\C:\x.dll)", R"(\\?\pipe\x)", R"(\??\UNC\server\x.dll)",
        R"(\\?\GLOBALROOT\Device\Mup\server\x.dll)", R"(\\?\\\?\C:\x.dll)", R"(\Device\Mup\x)",
        "C:", "C:x.dll", "C:/x.dll", "x.dll", "CON", ""}) {
    AskedFiles files;
    EXPECT_FALSE(LocalImageFiles(files).read(path)) << path;
    EXPECT_TRUE(files.asked.empty()) << path;
  }
}

}  // namespace
}  // namespace mixwalk
