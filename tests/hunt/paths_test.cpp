// A program in a folder whose name is not ASCII, and longer than the paths of old.

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/end_to_end/recorded_file.h"
#include "tests/hunt/hunt.h"
#include "unmanaged/win/utf8.h"

namespace mixwalk {
namespace {

namespace fs = std::filesystem;

// All files of the fixtures' folder, linked into another one.
class LinkedFixtures {
 public:
  explicit LinkedFixtures(const std::wstring& name)
      : folder_(fs::path(to_utf16(fixture(""))).parent_path().parent_path() / L"test-files" / name) {
    fs::create_directories(folder_);
    for (const auto& entry : fs::directory_iterator(to_utf16(fixture("")))) {
      if (!entry.is_regular_file()) continue;
      CreateHardLinkW((folder_ / entry.path().filename()).c_str(), entry.path().c_str(), nullptr);
    }
  }
  ~LinkedFixtures() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  std::string program(const wchar_t* name) const { return to_utf8((folder_ / name).wstring()); }

 private:
  fs::path folder_;
};

void hunt_in(const std::wstring& folder) {
  const LinkedFixtures fixtures(folder);
  const std::string path = fixtures.program(L"hunt.exe");
  const Situation situation{.name = "cpp-exceptions", .whole = 0.97};  // as in situations_test.cpp
  HuntedProgram hunted(std::vector<std::string>{path, situation.name});
  Seen seen;
  visit(hunted.id(), {"record", "-i", "1ms", "--budget", "0", "-d", "1s"}, situation, seen);
  const std::string file = temporary_file("paths.mixwalk");
  EXPECT_EQ(run_until_let_in({"dump", "-p", hunted.id(), "-o", file}).exit_code, 0u);
  const Recording recording = read_whole(file);
  remove_file(file);
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

// With its files' names beyond 260 characters, which is where the paths of old end.
TEST(Paths, LongOne) { hunt_in(std::wstring(100, L'a') + L"\\" + std::wstring(100, L'b')); }

}  // namespace
}  // namespace mixwalk
