#include "walker/cli/dump_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "tests/builders/dump_samples.h"
#include "tests/builders/image_builder.h"
#include "tests/builders/pdb_samples.h"
#include "tests/support/remove_tree.h"
#include "walker/cli/hang.h"
#include "walker/cli/options/formats.h"
#include "walker/target/disk_images.h"

namespace mixwalk {
namespace {

namespace fs = std::filesystem;
using test::DumpBuilder;
using test::kInApp;

struct Shown {
  ExitCode code = ExitCode::internal;
  std::string out, err;
};

fs::path temporary(const char* name) { return fs::path(testing::TempDir()) / name; }

void write(const fs::path& path, const std::vector<std::byte>& bytes) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

// Runs a command with services that have no file of the dump's machine.
template <class Command>
Shown run_here(const Command& command) {
  NoImageFiles none;
  const DumpFileServices host{
      .local = none,
      .show_colours = [] { return false; },
      .open_clr = [](const Target&, const DumpFileCommand&, StoreFetch*) { return OpenedClr(); },
      .log = {}};
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Shown result{.code = run(command, host), .out = {}, .err = {}};
  result.out = testing::internal::GetCapturedStdout();
  result.err = testing::internal::GetCapturedStderr();
  return result;
}

Shown shown(const DumpBuilder& dump, const std::string& symbol_path = {}) {
  const fs::path path = temporary("mixwalk_dump_file_test.dmp");
  write(path, dump.build());
  DumpFileCommand command;
  command.file = path.string();
  command.format = format_by_name("text");
  command.symbols.path = symbol_path;
  const Shown result = run_here(command);
  fs::remove(path);
  return result;
}

TEST(DumpFile, ACrashComesFirstAndHasACodeOfItsOwn) {
  DumpBuilder dump = test::two_frames();
  dump.exception(0x1A8, 0xC0000005, kInApp, DumpBuilder::at(kInApp, test::stack_of(4)), {1, 0});
  const Shown result = shown(dump);
  EXPECT_EQ(result.code, ExitCode::crash);
  constexpr std::string_view kFirst =
      "crash: access violation (0xc0000005): it wrote to 0x0, a null pointer\n"
      "  thread 0x1a8 \"Ada\" at app.exe!work+0x20\n\nprocess ";
  EXPECT_EQ(result.out.substr(0, kFirst.size()), kFirst) << result.out;
  EXPECT_EQ(shown(test::two_frames()).code, ExitCode::ok);
}

TEST(DumpFile, ADumpOfA32BitProcessSaysHowToGetARightOne) {
  DumpBuilder dump = test::two_frames();
  dump.module(0x7000'0000, 0x1000, 1, "C:\\Windows\\System32\\wow64.dll");
  dump.module(0x7100'0000, 0x1000, 1, "C:\\Windows\\System32\\wow64cpu.dll");
  const Shown result = shown(dump);
  EXPECT_EQ(result.code, ExitCode::wrong_bitness);
  EXPECT_NE(result.err.find("SysWOW64"), std::string::npos) << result.err;
  EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
}

TEST(DumpFile, AnImageThatOverlapsAnotherIsNamed) {
  DumpBuilder dump = test::two_frames();
  dump.module(test::kAppBase + 0x800, 0x2'0000, 7, "C:\\app\\over.dll");
  const Shown result = shown(dump);
  EXPECT_EQ(result.code, ExitCode::ok);
  EXPECT_NE(result.err.find("an image is left out, because it overlaps another: C:\\app\\over.dll\n"),
            std::string::npos)
      << result.err;
}

// Real case: a small dump of Windows on Linux: all stacks end in ntdll.dll, and "was a module unloaded?" led nowhere.
TEST(DumpFile, ImagesWhoseUnwindDataIsMissingAreNamed) {
  DumpBuilder dump;
  dump.module(test::kAppBase, 0x1'0000, 1, "C:\\app\\app.exe").module(test::kNtdllBase, 0x1'0000, 1, "C:\\ntdll.dll");
  dump.memory(test::stack_of(4), test::stack_with({0, 0, 0, 0}));
  std::uint32_t id = 0;
  for (const std::uint64_t at : {test::kInApp, test::kInNtdll, test::kInApp}) {
    dump.thread({.id = ++id, .stack = test::stack_of(4), .stack_bytes = 32,
                 .registers = DumpBuilder::at(at, test::stack_of(4))});
  }
  const Shown result = shown(dump);
  EXPECT_EQ(result.code, ExitCode::ok);
  EXPECT_NE(result.err.find("the unwind data of the images app.exe, ntdll.dll is not in the dump, so stacks end in "
                            "these images; name their folders with --symbol-path; with --symbols online, mixwalk asks "
                            "Microsoft's symbol server\n"),
            std::string::npos)
      << result.err;
  EXPECT_EQ(shown(test::two_frames()).err.find("unwind data"), std::string::npos);
}

// A folder with app.pdb.
class DumpFileWithPdb : public testing::Test {
 protected:
  void SetUp() override { fs::create_directory(folder_); }
  void TearDown() override { EXPECT_TRUE(remove_tree(folder_)); }

  void put(const std::vector<std::byte>& pdb) const { write(folder_ / "app.pdb", pdb); }
  std::string pdb_path() const {
    return folder_.string() + static_cast<char>(fs::path::preferred_separator) + "app.pdb";
  }

  const fs::path folder_ = temporary("mixwalk_dump_file_test");
};

// Real case: a PDB whose header counted more blocks than the file had was only "not found", and that only with -v.
TEST_F(DumpFileWithPdb, WhatIsRefusedSaysWhy) {
  const DumpBuilder dump = test::two_frames();
  const Shown without = shown(dump, folder_.string());
  EXPECT_EQ(without.err.find("not used"), std::string::npos) << without.err;
  put(test::pdb_with_inlining().build());
  const Shown with = shown(dump, folder_.string());
  EXPECT_EQ(with.err, "");
  EXPECT_NE(with.out, without.out);

  std::vector<std::byte> cut = test::pdb_with_inlining().build();
  cut.resize(cut.size() / 2);
  test::PdbBuilder other = test::pdb_with_inlining();
  other.guid = 9;
  constexpr std::string_view kMsfz("Microsoft MSFZ Container\r\n\x1a" "ALD\0\0 and more", 41);
  const std::span<const std::byte> msfz = std::as_bytes(std::span(kMsfz));
  const std::pair<std::vector<std::byte>, const char*> kRefused[] = {
      {cut, "the PDB is cut off, or its streams lie beyond its end"},
      {other.build(), "the PDB belongs to another image (its GUID differs)"},
      {{msfz.begin(), msfz.end()}, "the PDB is compressed (MSFZ); mixwalk reads the plain form that the linker writes"},
      {std::vector<std::byte>(100), "the file is no PDB"}};
  for (const auto& [pdb, why] : kRefused) {
    put(pdb);
    const Shown refused = shown(dump, folder_.string());
    EXPECT_TRUE(refused.err.starts_with("mixwalk: not used: " + pdb_path() + ": " + why + "\n")) << refused.err;
    EXPECT_EQ(refused.out, without.out);
  }
}

TEST_F(DumpFileWithPdb, WhatIsRefusedIsSaidOnceForAllDumpFiles) {
  put(std::vector<std::byte>(100));
  HangCommand command;
  command.symbols.path = folder_.string();
  for (const char* name : {"a.dmp", "b.dmp"}) {
    command.files.push_back((folder_ / name).string());
    write(command.files.back(), test::two_frames().build());
  }
  const std::string said = "mixwalk: not used: " + pdb_path() + ": the file is no PDB\n";
  const Shown compared = run_here(command);
  EXPECT_NE(compared.err.find(said), std::string::npos) << compared.err;
  EXPECT_EQ(compared.err.find("not used"), compared.err.rfind("not used")) << compared.err;
  command.quiet = true;
  EXPECT_EQ(run_here(command).err.find("not used"), std::string::npos);
}

}  // namespace
}  // namespace mixwalk
