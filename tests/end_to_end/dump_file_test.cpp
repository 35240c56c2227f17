// Dumps of real programs, written by the system's MiniDumpWriteDump, read by mixwalk.exe: their stacks are those that
// mixwalk.exe sees when it attaches to the same program.

#include <gtest/gtest.h>
#include <windows.h>

#include <dbghelp.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "tests/support/win/child_process.h"
#include "unmanaged/minidump/mapped_file.h"
#include "unmanaged/win/utf8.h"
#include "walker/base/exit_code.h"

namespace mixwalk {
namespace {

using Json = nlohmann::json;

// A program of this build.
std::string beside(const std::string& name) {
  const std::string mixwalk = mixwalk_exe();
  return mixwalk.substr(0, mixwalk.find_last_of("\\/") + 1) + name;
}

constexpr int kMiniDumpNormal = 0;

// Without a type: all of its memory. (Wine writes no ThreadInfo, MemoryInfo and ThreadNames.) Wine's dbghelp may end
// the program that writes.
bool write_dump(const ChildProcess& program, const std::string& path, std::optional<int> type = std::nullopt) {
  std::vector<std::string> arguments = {beside("write_minidump.exe"), std::to_string(program.id()), path};
  if (type) arguments.push_back(std::to_string(*type));
  for (int i = 0; i < 3; ++i) {
    if (run_program(arguments, 200'000).exit_code == 0) return true;
  }
  return false;
}

Json json_of(const ProgramResult& result) {
  EXPECT_EQ(result.exit_code, 0u) << result.err;
  return Json::parse(result.out, nullptr, false);
}

struct Place {
  std::string address, stack_pointer;
  bool operator==(const Place&) const = default;
};

// The real frames of a thread, leaf first, up to the first gap.
std::vector<Place> places(const Json& thread) {
  std::vector<Place> found;
  for (const Json& frame : thread["frames"]) {
    if (frame["kind"] == "gap") break;
    if (frame.value("inline_depth", 0) != 0) continue;
    found.push_back({frame["address"], frame["stack_pointer"]});
  }
  return found;
}

std::map<std::uint32_t, Json> threads_of(const Json& dump) {
  std::map<std::uint32_t, Json> threads;
  for (const Json& thread : dump["threads"]) threads[thread["os_id"]] = thread;
  return threads;
}

class DumpFile : public ::testing::Test {
 protected:
  DumpFile() : path_(temporary_file("dump_file_test.dmp")) {}
  ~DumpFile() override { DeleteFileA(path_.c_str()); }

  ProgramResult read(std::vector<std::string> options) const {
    options.insert(options.begin(), {mixwalk_exe(), "dump", path_});
    return run_program(options);
  }

  std::string path_;
};

// Folklore: Wine 8's MiniDumpWriteDump ends the program that writes the dump of a .NET process: ntdll frees memory that
// is none (a page fault in unsafe_block_from_ptr). On some days it does so once in ten times, on others always; the
// program that writes (write_minidump) has nothing of mixwalk in it. So these cases are run by hand
// (--gtest_also_run_disabled_tests, docs/developing.md), and wherever dbghelp.dll is Windows' own.
TEST_F(DumpFile, DISABLED_StacksAreThoseThatAttachSees) {
  ChildProcess hang({fixture("hang.exe")});
  ASSERT_TRUE(hang.read_line().value_or("").starts_with("READY"));
  ASSERT_TRUE(write_dump(hang, path_));
  const Json live = json_of(run_until_let_in({"dump", "-p", std::to_string(hang.id()), "-f", "json"}));
  hang.write_line("STOP");
  EXPECT_EQ(hang.wait(20'000), 0u);
  const Json dump = json_of(read({"-f", "json"}));
  ASSERT_TRUE(live.is_object() && dump.is_object());

  EXPECT_EQ(dump["process"]["id"], hang.id());
  EXPECT_EQ(dump["process"]["path"], live["process"]["path"]);
  EXPECT_EQ(dump["runtime"]["name"], live["runtime"]["name"]);
  EXPECT_EQ(dump["runtime"]["version"], live["runtime"]["version"]);

  // mixwalk.dll was loaded when the dump was there already, and what it needs.
  std::set<std::string> live_modules;
  for (const Json& module : live["modules"]) live_modules.insert(module.dump());
  EXPECT_GT(dump["modules"].size(), 20u);
  for (const Json& module : dump["modules"]) EXPECT_TRUE(live_modules.contains(module.dump())) << module.dump();

  const auto live_threads = threads_of(live);
  std::size_t whole = 0, managed = 0;
  for (const auto& [id, thread] : threads_of(dump)) {
    const auto same = live_threads.find(id);
    ASSERT_NE(same, live_threads.end()) << id;
    const auto seen = places(thread), all = places(same->second);
    ASSERT_LE(seen.size(), all.size()) << id;
    EXPECT_TRUE(std::equal(seen.begin(), seen.end(), all.begin())) << thread.dump(1);
    if (seen.size() == all.size() && !all.empty()) {
      ++whole;
      continue;
    }
    // What is not shown lies below jitted code, which the gap says.
    ++managed;
    EXPECT_EQ(thread["frames"].back()["kind"], "gap") << id;
    EXPECT_EQ(thread["runs"].back()["why"], "no-unwind") << id;
    const Json& last = thread["frames"][thread["frames"].size() - 2];
    EXPECT_TRUE(last["module"].is_null()) << last;
  }
  EXPECT_GE(whole, 3u);
  EXPECT_GE(managed, 5u);
}

TEST_F(DumpFile, ANativeProgramHasWholeStacksOnly) {
  ChildProcess waits({"C:\\windows\\system32\\cmd.exe", "/k"});
  Sleep(2000);
  ASSERT_TRUE(write_dump(waits, path_));
  const Json dump = json_of(read({"-f", "json"}));
  waits.terminate();
  ASSERT_TRUE(dump.is_object());
  EXPECT_EQ(dump["runtime"]["name"], "");
  ASSERT_FALSE(dump["threads"].empty());
  for (const Json& thread : dump["threads"]) EXPECT_EQ(thread["whole"], true) << thread.dump(1);
}

// The same streams, by the layouts of the system's own header.
TEST_F(DumpFile, DISABLED_ModulesAndThreadsAreThoseOfTheSystemsLayouts) {
  ChildProcess hang({fixture("hang.exe")});
  ASSERT_TRUE(hang.read_line().value_or("").starts_with("READY"));
  ASSERT_TRUE(write_dump(hang, path_));
  hang.write_line("STOP");
  EXPECT_EQ(hang.wait(20'000), 0u);
  const Json dump = json_of(read({"-f", "json"}));
  ASSERT_TRUE(dump.is_object());

  MappedFile file(path_);
  ASSERT_EQ(file.error(), "");
  const std::byte* const base = file.bytes().data();
  const auto* const header = reinterpret_cast<const MINIDUMP_HEADER*>(base);
  const auto* const directory = reinterpret_cast<const MINIDUMP_DIRECTORY*>(base + header->StreamDirectoryRva);
  const auto stream_of = [&](ULONG32 kind) -> const void* {
    for (ULONG32 i = 0; i < header->NumberOfStreams; ++i) {
      if (directory[i].StreamType == kind) return base + directory[i].Location.Rva;
    }
    return nullptr;
  };
  const auto hex = [](std::uint64_t value) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
    return std::string(text);
  };

  const auto* const modules = static_cast<const MINIDUMP_MODULE_LIST*>(stream_of(ModuleListStream));
  ASSERT_NE(modules, nullptr);
  std::map<std::string, const MINIDUMP_MODULE*> by_base;
  for (ULONG i = 0; i < modules->NumberOfModules; ++i) {
    by_base[hex(modules->Modules[i].BaseOfImage)] = &modules->Modules[i];
  }
  ASSERT_EQ(dump["modules"].size(), by_base.size());
  for (const Json& module : dump["modules"]) {
    const auto found = by_base.find(module["base"]);
    ASSERT_NE(found, by_base.end()) << module;
    const MINIDUMP_MODULE& of = *found->second;
    EXPECT_EQ(module["size"], of.SizeOfImage);
    EXPECT_EQ(module["timestamp"], hex(of.TimeDateStamp));
    const auto* const name = reinterpret_cast<const MINIDUMP_STRING*>(base + of.ModuleNameRva);
    EXPECT_EQ(module["path"], to_utf8({name->Buffer, name->Length / sizeof(wchar_t)}));
  }

  const auto* const list = static_cast<const MINIDUMP_THREAD_LIST*>(stream_of(ThreadListStream));
  ASSERT_NE(list, nullptr);
  const auto threads = threads_of(dump);
  ASSERT_EQ(threads.size(), list->NumberOfThreads);
  for (ULONG i = 0; i < list->NumberOfThreads; ++i) {
    const MINIDUMP_THREAD& of = list->Threads[i];
    CONTEXT context;
    ASSERT_GE(of.ThreadContext.DataSize, sizeof context);
    std::memcpy(&context, base + of.ThreadContext.Rva, sizeof context);
    const auto found = threads.find(of.ThreadId);
    ASSERT_NE(found, threads.end()) << of.ThreadId;
    EXPECT_EQ(places(found->second).front(), (Place{hex(context.Rip), hex(context.Rsp)}));
  }
}

// A dump of the stacks alone: the images' files stand in.
TEST_F(DumpFile, DISABLED_ASmallDumpIsWalkedByTheImagesFiles) {
  ChildProcess hang({fixture("hang.exe")});
  ASSERT_TRUE(hang.read_line().value_or("").starts_with("READY"));
  const std::string full = temporary_file("dump_file_test_full.dmp");
  ASSERT_TRUE(write_dump(hang, path_, kMiniDumpNormal));
  ASSERT_TRUE(write_dump(hang, full));
  hang.write_line("STOP");
  EXPECT_EQ(hang.wait(20'000), 0u);
  EXPECT_LT(std::filesystem::file_size(path_) * 10, std::filesystem::file_size(full));
  const auto small = threads_of(json_of(read({"-f", "json"})));
  const auto whole =
      threads_of(json_of(run_program({mixwalk_exe(), "dump", full, "-f", "json"})));
  DeleteFileA(full.c_str());
  ASSERT_EQ(small.size(), whole.size());
  std::size_t same = 0;
  for (const auto& [id, thread] : whole) {
    if (!thread["whole"]) continue;  // its stack leads through code that is in no file
    EXPECT_EQ(places(small.at(id)), places(thread)) << small.at(id).dump(1);
    ++same;
  }
  EXPECT_GE(same, 3u);
}

TEST_F(DumpFile, ThreadsThatAreNotThereAndFilesThatAreNoneSayWhy) {
  ChildProcess waits({"C:\\windows\\system32\\cmd.exe", "/k"});
  Sleep(1000);
  ASSERT_TRUE(write_dump(waits, path_));
  waits.terminate();
  const ProgramResult missing = read({"--thread", "0xfffe"});
  EXPECT_EQ(missing.exit_code, static_cast<DWORD>(ExitCode::no_thread));
  EXPECT_NE(missing.err.find("has no thread 0xfffe"), std::string::npos) << missing.err;
  std::ofstream(path_) << "Thread 0x554\n  #0 ntdll.dll!NtWait\n";
  const ProgramResult text = read({});
  EXPECT_EQ(text.exit_code, static_cast<DWORD>(ExitCode::input));
  EXPECT_NE(text.err.find("a text file, not a minidump"), std::string::npos) << text.err;
  EXPECT_EQ(text.out, "");
  EXPECT_EQ(run_program({mixwalk_exe(), "dump", "none.dmp"}).exit_code, static_cast<DWORD>(ExitCode::input));
}

}  // namespace
}  // namespace mixwalk
