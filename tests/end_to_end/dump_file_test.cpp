// Dumps of real programs are written and read by mixwalk.exe. Their stacks must be the same as those that mixwalk.exe
// shows when it attaches to the program, or walks it from outside.

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

#include "tests/support/utf8_path.h"
#include "tests/support/win/child_process.h"
#include "tests/support/win/wine.h"
#include "unmanaged/ascii_lower.h"
#include "unmanaged/minidump/mapped_file.h"
#include "unmanaged/win/utf8.h"
#include "walker/base/exit_code.h"
#include "walker/outside/writing/minidump_writer.h"
#include "walker/target/suspension/process_suspension.h"

namespace mixwalk {
namespace {

using Json = nlohmann::json;

ProgramResult write_dump(const ChildProcess& program, const std::string& path) {
  return run_program({mixwalk_exe(), "dump", "-p", std::to_string(program.id()), "-o", path}, 200'000);
}

// Writes a dump with a separate program. The only memory of MiniDumpNormal is that of the stacks, unless the runtime's
// debugging library adds some.
bool write_small_dump(const ChildProcess& program, const std::string& path, int type = MiniDumpNormal) {
  return run_program({beside("write_minidump.exe"), std::to_string(program.id()), path, std::to_string(type)}, 200'000)
             .exit_code == 0;
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

ProgramResult read(const std::string& path, std::vector<std::string> options) {
  options.insert(options.begin(), {mixwalk_exe(), "dump", path});
  return run_program(options);
}

// Threads of hang.exe that never move.
const std::vector<std::string> kParked{"deadlock 1", "deadlock 2", "task result", "native wait", "com call",
                                       "sleep",      "accept",     "deep",        "exception",   "native only"};

// Returns a text for each frame, with only those facts that an attach, a look from outside and a dump file all give.
std::vector<std::string> frames_of(const Json& dump, const Json& thread) {
  std::vector<std::string> frames;
  for (const Json& frame : thread.at("frames")) {
    std::string text = frame.at("kind");
    text += ' ' + frame.value("address", "") + ' ' + frame.value("stack_pointer", "");
    if (frame.at("module").is_number()) {
      text += ' ' + dump.at("modules").at(frame.at("module").get<std::size_t>()).at("name").get<std::string>();
    }
    if (frame.at("name").is_string()) text += ' ' + frame.at("name").get<std::string>();
    if (frame.contains("target")) text += " to " + frame.at("target").get<std::string>();
    if (frame.contains("line")) text += " line " + frame.at("line").dump();
    frames.push_back(text);
  }
  return frames;
}

// Tells Microsoft's MiniDumpWriteDump, under Wine, which debugging library belongs to the runtime of the fixtures. The
// writer loads the library, and writes the memory that it names. (On Windows it finds the library by a resource of
// coreclr.dll.)
class RegisteredRuntime {
 public:
  RegisteredRuntime() {
    const DWORD zero = 0;
    written_ = RegSetKeyValueW(HKEY_LOCAL_MACHINE, kKnown, library_.c_str(), REG_DWORD, &zero, sizeof zero) == 0 &&
               RegSetKeyValueW(HKEY_LOCAL_MACHINE, kAuxiliary, runtime_.c_str(), REG_SZ, library_.c_str(),
                               static_cast<DWORD>((library_.size() + 1) * sizeof(wchar_t))) == 0;
  }
  ~RegisteredRuntime() {
    RegDeleteKeyValueW(HKEY_LOCAL_MACHINE, kKnown, library_.c_str());
    RegDeleteKeyValueW(HKEY_LOCAL_MACHINE, kAuxiliary, runtime_.c_str());
  }
  RegisteredRuntime(const RegisteredRuntime&) = delete;
  RegisteredRuntime& operator=(const RegisteredRuntime&) = delete;
  bool written() const { return written_; }

 private:
  static std::wstring path_of(const char* name) {
    return std::filesystem::canonical(utf8_path(fixture(name))).make_preferred().native();
  }

  static constexpr const wchar_t* kKnown =
      L"SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\KnownManagedDebuggingDlls";
  static constexpr const wchar_t* kAuxiliary =
      L"SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion\\MiniDumpAuxiliaryDlls";
  const std::wstring runtime_ = path_of("coreclr.dll"), library_ = path_of("mscordaccore.dll");
  bool written_ = false;
};

// The types of dotnet-dump's --type Mini and Heap.
constexpr int kMini = MiniDumpWithThreadInfo;
constexpr int kHeap = MiniDumpWithPrivateReadWriteMemory | MiniDumpWithDataSegs | MiniDumpWithHandleData |
                      MiniDumpWithUnloadedModules | MiniDumpWithFullMemoryInfo | MiniDumpWithThreadInfo |
                      MiniDumpWithTokenInformation;

// Runs hang.exe, whose dump is written once for all cases.
class HangDump : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    path_ = temporary_file("dump_file_test_hang.dmp");
    small_path_ = temporary_file("dump_file_test_small.dmp");
    ChildProcess hang({fixture("hang.exe")});
    ASSERT_TRUE(hang.read_line().value_or("").starts_with("READY"));
    id_ = hang.id();
    const std::string id = std::to_string(id_);
    ASSERT_TRUE(write_small_dump(hang, small_path_));
    write_dumps_of_one_moment(hang);
    outside_ = json_of(run_program({mixwalk_exe(), "dump", "--outside", "-p", id, "-f", "json"}));
    // The dump does not contain mixwalk.dll and the DLLs that it needs, because the attach comes after the dump.
    attached_ = json_of(run_until_let_in({"dump", "-p", id, "-f", "json"}));
    hang.write_line("STOP");
    exit_code_ = hang.wait(20'000);
    ASSERT_EQ(written_.exit_code, 0u) << written_.err;
    dump_ = json_of(run_program({mixwalk_exe(), "dump", path_, "-f", "json"}));
    ASSERT_TRUE(dump_.is_object() && outside_.is_object() && attached_.is_object());
  }
  static void TearDownTestSuite() {
    remove_file(path_);
    remove_file(small_path_);
    for (const auto& [type, path] : by_runtime_) remove_file(path);
  }

  // Writes the dump, and, if the system's writer asks the runtime, small dumps of the same moment. (Wine's writer may
  // wait for a thread that was suspended while it began, as long as the process is suspended.)
  static void write_dumps_of_one_moment(const ChildProcess& hang) {
    if (!writer_asks_runtime()) {
      written_ = write_dump(hang, path_);
      return;
    }
    std::optional<RegisteredRuntime> registered;
    if (under_wine()) ASSERT_TRUE(registered.emplace().written());
    ProcessSuspension suspension(hang.id());
    written_ = write_dump(hang, path_);
    for (const int type : {static_cast<int>(MiniDumpNormal), kMini, kHeap}) {
      const std::string path = temporary_file("dump_file_test_" + std::to_string(type) + ".dmp");
      by_runtime_[type] = path;
      EXPECT_TRUE(write_small_dump(hang, path, type));
    }
  }
  static bool writer_asks_runtime() { return usual_memory_writer() == MemoryBy::system; }

  static inline std::string path_, small_path_;
  static inline std::map<int, std::string> by_runtime_;  // the files of small dumps, by their types
  static inline ProgramResult written_;
  static inline std::uint32_t id_ = 0;
  static inline std::optional<DWORD> exit_code_;
  static inline Json dump_, outside_, attached_;
};

TEST_F(HangDump, TheProcessRunsOnAndOneLineSaysHowLongItStood) {
  EXPECT_EQ(exit_code_, 0u);
  EXPECT_EQ(written_.out, "");
  EXPECT_NE(written_.err.find("threads of process " + std::to_string(id_) + " (hang.exe) stood for "),
            std::string::npos) << written_.err;
  EXPECT_EQ(std::count(written_.err.begin(), written_.err.end(), '\n'), 1) << written_.err;
  EXPECT_GT(std::filesystem::file_size(utf8_path(path_)), 50'000'000u);
  EXPECT_FALSE(std::filesystem::exists(utf8_path(path_ + ".partial")));
}

TEST_F(HangDump, ParkedThreadsHaveTheStacksOfAnAttachAndOfALookFromOutside) {
  EXPECT_EQ(dump_["process"]["id"], id_);
  EXPECT_EQ(dump_["process"]["path"], attached_["process"]["path"]);
  EXPECT_EQ(dump_["runtime"]["name"], attached_["runtime"]["name"]);
  EXPECT_EQ(dump_["runtime"]["version"], attached_["runtime"]["version"]);
  const auto attached = threads_of(attached_), outside = threads_of(outside_);
  std::set<std::string> found;
  for (const auto& [id, thread] : threads_of(dump_)) {
    const auto name = thread["name"].is_string() ? thread["name"].get<std::string>() : "";
    if (std::ranges::find(kParked, name) == kParked.end()) continue;
    SCOPED_TRACE(name);
    found.insert(name);
    EXPECT_EQ(thread["whole"], true);
    ASSERT_TRUE(attached.contains(id) && outside.contains(id));
    EXPECT_EQ(frames_of(dump_, thread), frames_of(outside_, outside.at(id)));
    EXPECT_EQ(frames_of(dump_, thread), frames_of(attached_, attached.at(id)));
  }
  EXPECT_EQ(found.size(), kParked.size());
  EXPECT_NE(dump_.dump().find("\"target\":\"ladder_native!ladder_native_park\""), std::string::npos);
  EXPECT_NE(dump_.dump().find("Program.cs"), std::string::npos) << "no managed frame has its line";
}

// The program has two monitors that wait for each other, and one in Monitor.Wait.
TEST_F(HangDump, LocksAreThoseOfALookFromOutside) {
  const auto locks_of = [](const Json& dump) {
    std::set<std::string> locks;
    for (const Json& lock : dump.at("locks")) {
      if (!lock.at("type").is_string() || lock.at("type") != "System.Object") continue;
      locks.insert(lock.dump());
    }
    return locks;
  };
  EXPECT_EQ(dump_["locks_missing"], nullptr);
  EXPECT_EQ(locks_of(dump_).size(), 3u) << dump_["locks"];
  EXPECT_EQ(locks_of(dump_), locks_of(outside_));
}

// Puts a text in place of another one of the same length, where that first stands in a file.
bool replace_in_file(const std::string& path, std::string_view text, std::string_view by) {
  std::size_t at;
  {
    const MappedFile file(path);
    at = std::string_view(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()).find(text);
  }
  if (at == std::string_view::npos || text.size() != by.size()) return false;
  std::fstream file(utf8_path(path), std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(at)).write(by.data(), static_cast<std::streamsize>(by.size()));
  return static_cast<bool>(file.flush());
}

// The runtime's description of its own data names a wrong offset.
TEST_F(HangDump, TheLibraryAnswersWhereTheRuntimesDataFailsACheck) {
  constexpr std::string_view kRight = R"("ReadyToRunInfo":608)", kWrong = R"("ReadyToRunInfo":609)";
  ASSERT_TRUE(replace_in_file(path_, kRight, kWrong));
  const ProgramResult read = run_program({mixwalk_exe(), "dump", path_, "-v", "-f", "json"});
  ASSERT_TRUE(replace_in_file(path_, kWrong, kRight));
  EXPECT_NE(read.err.find("the runtime's debugging library answers: the runtime's map of code does not lead to "
                          "System.Private.CoreLib"),
            std::string::npos)
      << read.err;
  const Json by_library = json_of(read);
  EXPECT_EQ(dump_["runtime"]["source"], "contracts");
  EXPECT_EQ(dump_["runtime"]["source_reason"], nullptr);
  EXPECT_EQ(by_library["runtime"]["source"], "debugging-library");
  EXPECT_EQ(by_library["runtime"]["source_reason"],
            "the runtime's map of code does not lead to System.Private.CoreLib");
  const auto threads = threads_of(by_library);
  for (const auto& [id, thread] : threads_of(dump_)) {
    SCOPED_TRACE(id);
    ASSERT_TRUE(threads.contains(id));
    EXPECT_EQ(frames_of(by_library, threads.at(id)), frames_of(dump_, thread));
  }
}

TEST_F(HangDump, ModulesAreThoseOfTheProcess) {
  // Folklore: Microsoft's writer passes each module's path to GetLongPathNameW, which takes the letters from the
  // directory. Real case: the loader's list has C:\windows\system32\SHELL32.dll, and the dump has shell32.dll.
  const auto loaded = [](const Json& module) {
    return ascii_lower(Json({module.at("base"), module.at("path"), module.at("size"), module.at("timestamp")}).dump());
  };
  std::set<std::string> live;
  for (const Json& module : attached_["modules"]) live.insert(loaded(module));
  EXPECT_GT(dump_["modules"].size(), 20u);
  for (const Json& module : dump_["modules"]) EXPECT_TRUE(live.contains(loaded(module))) << module.dump();
}

// Reads the same streams by the layouts of the system's own header.
TEST_F(HangDump, ModulesAndThreadsAreThoseOfTheSystemsLayouts) {
  const Json& dump = dump_;
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

// A dump has only the stacks, so the images' files are read instead. Code that the JIT compiled is in no file.
TEST_F(HangDump, ASmallDumpIsWalkedByTheImagesFiles) {
  EXPECT_LT(std::filesystem::file_size(utf8_path(small_path_)) * 10, std::filesystem::file_size(utf8_path(path_)));
  const Json dump = json_of(run_program({mixwalk_exe(), "dump", small_path_, "-f", "json"}));
  const auto small = threads_of(dump), full = threads_of(dump_);
  std::size_t same = 0;
  for (const auto& [id, thread] : full) {
    const auto is_native = [](const Json& frame) { return frame["kind"] == "native"; };
    if (!thread["whole"] || !std::ranges::all_of(thread["frames"], is_native)) continue;
    if (!small.contains(id)) continue;  // a thread of the system's pool; this thread has ended
    // The two dumps are of different moments, and some threads of the runtime wait again and again.
    const std::vector<Place> found = places(small.at(id));
    if (found.empty() || found.front() != places(thread).front()) continue;
    // Wine's writer reads a thread's registers, lets the thread run, and copies its stack later. Seen once in some ten
    // runs: a thread of the runtime had left its wait and was back in it, and no return address lay above its Rsp.
    if (found.size() == 1 && small.at(id)["runs"][0]["why"] == "no-call") continue;
    EXPECT_EQ(found, places(thread)) << small.at(id).dump(1);
    ++same;
  }
  EXPECT_GE(same, 3u);
}

// The runtime's image is not where its file wants it, so the debugging library needs the file's addresses relocated.
TEST_F(HangDump, SmallOnesThatTheRuntimeAddedToHaveTheStacksOfAFullOne) {
  if (!writer_asks_runtime()) {
    GTEST_SKIP() << "not run: Wine's MiniDumpWriteDump asks no runtime (dbghelp_dump_file)";
  }
  const auto all = threads_of(dump_);
  EXPECT_GE(all.size(), kParked.size());
  EXPECT_EQ(by_runtime_.size(), 3u);
  for (const auto& [type, path] : by_runtime_) {
    SCOPED_TRACE(type);
    if (type != kHeap) EXPECT_LT(std::filesystem::file_size(utf8_path(path)), 2'000'000u);
    const Json small = json_of(read(path, {"-f", "json"}));
    const auto threads = threads_of(small);
    ASSERT_EQ(threads.size(), all.size());
    for (const auto& [id, thread] : all) {
      SCOPED_TRACE(thread["name"]);
      // The runtime does not walk a thread that is in one of its stubs, so it adds nothing about the thread's methods.
      // Seen once in hundreds of runs: "spin", while its calls were counted.
      const Json& frames = thread["frames"];
      if (thread["name"] == "spin" && !frames.empty() && frames[0]["kind"] == "stub") continue;
      EXPECT_EQ(threads.at(id)["whole"], true);
      EXPECT_EQ(frames_of(small, threads.at(id)), frames_of(dump_, thread));
    }
  }
}

// Runs a native program, whose dump is written once for all cases.
class NativeDump : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    path_ = temporary_file("dump_file_test.dmp");
    ChildProcess waits({"C:\\windows\\system32\\cmd.exe", "/q", "/k", "echo", "STARTED"});
    ASSERT_EQ(waits.read_line().value_or(""), "STARTED");
    Sleep(500);  // until it waits for its input
    const ProgramResult written = write_dump(waits, path_);
    ASSERT_EQ(written.exit_code, 0u) << written.err;
  }
  static void TearDownTestSuite() { remove_file(path_); }

  static inline std::string path_;
};

TEST_F(NativeDump, HasWholeStacksOnly) {
  const Json dump = json_of(read(path_, {"-f", "json"}));
  ASSERT_TRUE(dump.is_object());
  EXPECT_EQ(dump["runtime"]["name"], "");
  ASSERT_FALSE(dump["threads"].empty());
  for (const Json& thread : dump["threads"]) EXPECT_EQ(thread["whole"], true) << thread.dump(1);
  EXPECT_EQ(dump["filter"]["some_threads"], false);
  const std::string id = dump["threads"][0]["os_id"].dump();
  EXPECT_EQ(json_of(read(path_, {"-f", "json", "--thread", id}))["filter"]["some_threads"], true);
}

TEST_F(NativeDump, OfAThreadThatIsNotThereSaysSo) {
  const ProgramResult missing = read(path_, {"--thread", "0xfffe"});
  EXPECT_EQ(missing.exit_code, static_cast<DWORD>(ExitCode::no_thread));
  EXPECT_NE(missing.err.find("has no thread 0xfffe"), std::string::npos) << missing.err;
}

TEST(NoDump, ThatAFileIsNoneIsSaid) {
  const std::string path = temporary_file("dump_file_test.txt");
  std::ofstream(utf8_path(path)) << "Thread 0x554\n  #0 ntdll.dll!NtWait\n";
  const ProgramResult text = read(path, {});
  EXPECT_EQ(text.exit_code, static_cast<DWORD>(ExitCode::input));
  EXPECT_NE(text.err.find("a text file, not a minidump"), std::string::npos) << text.err;
  EXPECT_EQ(text.out, "");
  EXPECT_EQ(run_program({mixwalk_exe(), "dump", "none.dmp"}).exit_code, static_cast<DWORD>(ExitCode::input));
  remove_file(path);
}

}  // namespace
}  // namespace mixwalk
