// A program is in a folder whose name is not ASCII, or whose path is longer than Windows used to allow.

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/end_to_end/recorded_file.h"
#include "tests/hunt/hunt.h"
#include "tests/support/remove_tree.h"
#include "unmanaged/win/utf8.h"

namespace mixwalk {
namespace {

namespace fs = std::filesystem;

// Links all files of the fixtures' folder into another folder.
class LinkedFixtures {
 public:
  explicit LinkedFixtures(const std::wstring& name) : folder_(test_files() / name) {
    fs::create_directories(folder_);
    for (const auto& entry : fs::directory_iterator(to_utf16(fixture("")))) {
      if (!entry.is_regular_file()) continue;
      CreateHardLinkW(any_length(folder_ / entry.path().filename()).c_str(), entry.path().c_str(), nullptr);
    }
  }
  ~LinkedFixtures() {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder_, ignored)) DeleteFileW(any_length(entry.path()).c_str());
    static_cast<void>(remove_tree(folder_));
  }
  static fs::path test_files() {
    return (fs::path(to_utf16(fixture(""))).parent_path().parent_path() / L"test-files").lexically_normal();
  }
  std::string program(const wchar_t* name) const { return to_utf8((folder_ / name).wstring()); }

 private:
  static std::wstring any_length(const fs::path& path) { return L"\\\\?\\" + path.wstring(); }

  fs::path folder_;
};

void hunt_in(const std::wstring& folder) {
  const LinkedFixtures fixtures(folder);
  const std::string path = fixtures.program(L"hunt.exe");
  const Situation situation{.name = "cpp-exceptions", .whole = 0.97};  // the same as in situations_test.cpp
  HuntedProgram hunted(std::vector<std::string>{path, situation.name});
  Seen seen;
  visit(hunted.id(), {"record", "-i", "1ms", "--budget", "0", "-d", "1s"}, situation, seen);
  const Recording recording = visit(hunted.id(), {"dump"}, situation, seen);
  EXPECT_TRUE(recording.process.path.ends_with("hunt.exe")) << recording.process.path;
  EXPECT_NE(recording.process.path.find(to_utf8(folder)), std::string::npos)
      << recording.process.path;
  bool native = false;
  for (const Module& module : recording.modules) {
    if (!module.path.ends_with("hunt_native.dll")) continue;
    native = true;
    EXPECT_NE(module.path.find(to_utf8(folder)), std::string::npos) << module.path;
  }
  EXPECT_TRUE(native);
  judge(situation, seen, hunted.stop(), "none");
}

TEST(Paths, NotOfASCII) { hunt_in(L"h\u00fcnt-\u8def\u5f84-\u0416"); }

// Paths used to be limited to 260 characters, and those of folders to 248. The program's own path is just shorter,
// since CreateProcess accepts no longer one; the paths of its DLLs are longer.
TEST(Paths, LongOne) {
  constexpr std::size_t kLongestFolder = 247, kFirst = 100;
  const std::size_t others = LinkedFixtures::test_files().wstring().size() + 1 + kFirst + 1;
  if (others >= kLongestFolder) GTEST_SKIP() << "the folder of the tests has too long a path itself";
  hunt_in(std::wstring(kFirst, L'a') + L"\\" + std::wstring(kLongestFolder - others, L'b'));
}

}  // namespace
}  // namespace mixwalk
