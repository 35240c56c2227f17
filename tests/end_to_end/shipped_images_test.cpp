// Checks mixwalk.exe and mixwalk.dll as they are shipped, apart from their debug data: the content of their headers,
// their resources and their imports.

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/repository_files.h"
#include "tests/support/utf8_path.h"
#include "tests/support/win/child_process.h"
#include "unmanaged/image/data_directory.h"
#include "unmanaged/image/debug_directory.h"
#include "unmanaged/image/imports.h"
#include "walker/base/version.h"

namespace mixwalk {
namespace {

constexpr unsigned kExports = 0, kResources = 2, kRelocations = 5;  // IMAGE_DIRECTORY_ENTRY_*
// Offsets in the headers of PE32+, counted from the signature "PE" (Microsoft, "PE Format").
constexpr std::uint64_t kSectionCountAt = 6, kTimestampAt = 8, kFlagsAt = 22, kLoaderFlagsAt = 24 + 70;
constexpr std::uint64_t kSectionsAt = 264, kSectionBytes = 40, kSectionFileBytesAt = 16, kSectionFlagsAt = 36;

using Bytes = std::span<const std::byte>;

// With its debug data mixwalk.exe has 50 MB, so each image is read only once.
Bytes read(const std::string& path) {
  static std::map<std::string, std::string> files;
  std::string& text = files[path];
  if (text.empty()) {
    std::ifstream file(utf8_path(path), std::ios::binary | std::ios::ate);
    text.resize(static_cast<std::size_t>(file.tellg()));
    file.seekg(0).read(text.data(), static_cast<std::streamsize>(text.size()));
  }
  return std::as_bytes(std::span(text));
}

std::string_view text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

bool holds(Bytes bytes, const std::string& text) { return text_of(bytes).find(text) != std::string_view::npos; }

// Converts ASCII text to the form that Windows uses in resources.
std::string utf16(const std::string& text) {
  std::string wide;
  for (const char c : text) wide += {c, '\0'};
  return wide;
}

class ShippedImage : public ::testing::TestWithParam<const char*> {
 protected:
  ShippedImage() : path_(folder() + GetParam()), file_(read(path_)), headers_(file_) {
    pe_ = headers_.at<std::uint32_t>(0x3C);
  }
  static std::string folder() {
    const std::string exe = mixwalk_exe();
    return exe.substr(0, exe.find_last_of('\\') + 1);
  }
  bool is_exe() const { return path_.ends_with(".exe"); }

  struct Section {
    std::uint32_t bytes = 0, flags = 0;  // size in the file; IMAGE_SCN_*
  };
  std::vector<Section> sections() {
    std::vector<Section> all(headers_.at<std::uint16_t>(pe_ + kSectionCountAt));
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::uint64_t at = pe_ + kSectionsAt + i * kSectionBytes;
      all[i] = {headers_.at<std::uint32_t>(at + kSectionFileBytesAt), headers_.at<std::uint32_t>(at + kSectionFlagsAt)};
    }
    return all;
  }

  const std::string path_;
  const Bytes file_;
  FileReader headers_;
  std::uint64_t pe_ = 0;
};

TEST_P(ShippedImage, MayBeAnywhereInMemoryAndRunsNoData) {
  const auto loader = headers_.at<std::uint16_t>(pe_ + kLoaderFlagsAt);
  EXPECT_TRUE(loader & 0x20) << "no HIGH_ENTROPY_VA";
  EXPECT_TRUE(loader & 0x40) << "no DYNAMIC_BASE";
  EXPECT_TRUE(loader & 0x100) << "no NX_COMPAT";
  EXPECT_FALSE(headers_.at<std::uint16_t>(pe_ + kFlagsAt) & 1) << "RELOCS_STRIPPED";
  EXPECT_FALSE(data_directory(file_, kRelocations).empty());
  ASSERT_FALSE(sections().empty());
  for (const Section& section : sections()) {
    EXPECT_NE(section.flags & 0xA000'0000, 0xA000'0000) << "a section that is written and executed";
  }
  EXPECT_FALSE(headers_.failed());
}

TEST_P(ShippedImage, HasNoTimeStamp) {
  EXPECT_EQ(headers_.at<std::uint32_t>(pe_ + kTimestampAt), 0u);
  const auto debug = debug_directory(file_);
  ASSERT_FALSE(debug.empty());  // the build id
  for (const DebugEntry& entry : debug) EXPECT_EQ(entry.timestamp, 0u);
  const auto exports = data_directory(file_, kExports);
  if (!exports.empty()) {
    EXPECT_EQ(FileReader(exports).at<std::uint32_t>(4), 0u);
  }
}

TEST_P(ShippedImage, HasABuildIdByWhichItsDebugDataIsFound) {
  const auto id = code_view_id(debug_directory(file_), false);
  ASSERT_TRUE(id);
  EXPECT_EQ(build_id(*id).size(), 32u);
}

// If the image names no folder, a build in another folder gives the same bytes.
TEST_P(ShippedImage, NamesNoFolderOfThisBuild) {
  if (in_bundle()) GTEST_SKIP() << "not for Windows: the debug data, which is looked at, is not in the bundle";
  const std::string folder = MIXWALK_SOURCE_FOLDER;
  ASSERT_GT(folder.size(), 4u);
  EXPECT_FALSE(holds(file_, folder));
  EXPECT_FALSE(holds(file_, utf16(folder)));
  EXPECT_TRUE(holds(file_, "/mixwalk/walker/")) << "no debug data, so nothing is said by the lines before";
}

TEST_P(ShippedImage, SaysWhichVersionItIs) {
  const auto resources = data_directory(file_, kResources);
  for (const char* name : {"FileVersion", "ProductVersion"}) {
    const std::size_t at = text_of(resources).find(utf16(name));
    ASSERT_NE(at, std::string_view::npos) << name;
    constexpr std::size_t kNear = 64;
    EXPECT_TRUE(holds(resources.subspan(at, std::min(kNear, resources.size() - at)), utf16(kVersion))) << name;
  }
  // VS_FIXEDFILEINFO has its signature, its own version, the version of the file and the version of the product; each
  // part of a version has 16 bits.
  const std::size_t fixed = text_of(resources).find("\xBD\x04\xEF\xFE");
  ASSERT_NE(fixed, std::string_view::npos);
  FileReader numbers(resources.subspan(fixed));
  for (const std::uint64_t at : {8, 16}) {
    EXPECT_EQ(std::to_string(numbers.at<std::uint16_t>(at + 2)) + "." + std::to_string(numbers.at<std::uint16_t>(at)) +
                  "." + std::to_string(numbers.at<std::uint16_t>(at + 6)),
              kVersion);
  }
  EXPECT_TRUE(holds(resources, utf16(GetParam()))) << "OriginalFilename";
  if (is_exe()) {
    EXPECT_EQ(run_program({path_, "--version"}).out, std::string("mixwalk ") + kVersion + "\n");
  }
}

// A DLL of the compiler's runtime would have to lie beside mixwalk.dll, and would be loaded into the target with
// mixwalk.dll.
TEST_P(ShippedImage, ImportsFromDllsOfTheSystemOnly) {
  std::set<std::string> of_the_system = {"ADVAPI32.dll", "KERNEL32.dll", "msvcrt.dll", "ntdll.dll"};
  if (is_exe()) of_the_system.insert({"WS2_32.dll"});
  const PeImage image = PeImage::parse(file_);
  ASSERT_EQ(image.error(), PeError::none);
  const Imports imports(image);
  EXPECT_GT(imports.all().size(), 50u);
  for (const Import& import : imports.all()) {
    EXPECT_TRUE(of_the_system.contains(std::string(import.image))) << import.image << '!' << import.name;
  }
}

// Only the sections without the debug data count, because the debug data is shipped separately: the sections that the
// loader uses, and the relocations.
TEST_P(ShippedImage, IsSmall) {
  std::uint64_t bytes = data_directory(file_, kRelocations).size();
  for (const Section& section : sections()) {
    if (!(section.flags & 0x0200'0000)) bytes += section.bytes;  // MEM_DISCARDABLE
  }
  EXPECT_GT(bytes, 100'000u);
  EXPECT_LT(bytes, is_exe() ? 7'300'000u : 1'000'000u);
}

INSTANTIATE_TEST_SUITE_P(, ShippedImage, ::testing::Values("mixwalk.exe", "mixwalk.dll"),
                         [](const auto& image) { return std::string(image.index == 0 ? "Exe" : "Dll"); });

TEST(ShippedManifest, AsksForNoRightsAndNamesItsSystems) {
  const Bytes file = read(mixwalk_exe());
  const auto resources = data_directory(file, kResources);
  EXPECT_TRUE(holds(resources, "level=\"asInvoker\""));
  EXPECT_TRUE(holds(resources, "{8e0f7a12-bfb3-4fe8-b9a5-48fd50a15a9a}"));  // Windows 10 and later
  EXPECT_TRUE(holds(resources, "longPathAware"));
}

}  // namespace
}  // namespace mixwalk
