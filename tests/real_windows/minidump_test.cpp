// Compares a dump of Microsoft's MiniDumpWriteDump with the suspended process itself, list by list, and lets the system
// read dumps. Everything about the process comes from calls of the system.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <windows.h>
// windows.h must come first:
#include <dbghelp.h>
#include <psapi.h>
#include <winternl.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/support/win/child_process.h"
#include "unmanaged/ascii_lower.h"
#include "unmanaged/minidump/dump_memory.h"
#include "unmanaged/minidump/mapped_file.h"
#include "unmanaged/minidump/minidump.h"
#include "unmanaged/step/page_kind.h"
#include "unmanaged/win/process_memory.h"
#include "unmanaged/win/thread_information.h"
#include "unmanaged/win/unique_handle.h"
#include "unmanaged/win/utf8.h"
#include "walker/outside/writing/minidump_writer.h"
#include "walker/session/win/thread_list.h"
#include "walker/target/suspension/process_suspension.h"

namespace mixwalk {
namespace {

using testing::ElementsAreArray;

constexpr DWORD kEndMs = 60'000;
constexpr std::uint64_t kPieceBytes = 64 * 1024;

std::uint64_t number(const FILETIME& time) { return std::uint64_t{time.dwHighDateTime} << 32 | time.dwLowDateTime; }

struct ThreadFacts {
  std::uint64_t teb = 0, start_address = 0, create_time = 0;
  std::string name;
  Registers registers;
  bool operator==(const ThreadFacts&) const = default;
};
void PrintTo(const ThreadFacts& facts, std::ostream* out) {
  *out << '"' << facts.name << "\" TEB " << std::hex << facts.teb << " start " << facts.start_address << std::dec
       << " created " << facts.create_time << std::hex << " rip " << facts.registers.rip << " rsp "
       << facts.registers.rsp() << std::dec;
}
using Threads = std::map<std::uint32_t, ThreadFacts>;

// The sum of both processor times. Under Wine, that of a suspended thread may grow.
using ProcessorTimes = std::map<std::uint32_t, std::uint64_t>;

ProcessorTimes live_times(DWORD process_id) {
  ProcessorTimes times;
  for (const std::uint32_t id : list_threads(process_id).value_or(std::vector<std::uint32_t>())) {
    const UniqueHandle thread(OpenThread(THREAD_QUERY_INFORMATION, FALSE, id));
    FILETIME created{}, ended{}, kernel{}, user{};
    GetThreadTimes(thread.get(), &created, &ended, &kernel, &user);
    times[id] = number(kernel) + number(user);
  }
  return times;
}

Threads live_threads(DWORD process_id) {
  constexpr auto kStartAddress = static_cast<THREADINFOCLASS>(9);  // ThreadQuerySetWin32StartAddress
  Threads threads;
  for (const std::uint32_t id : list_threads(process_id).value_or(std::vector<std::uint32_t>())) {
    const UniqueHandle thread(OpenThread(THREAD_GET_CONTEXT | THREAD_QUERY_INFORMATION, FALSE, id));
    ThreadFacts& facts = threads[id];
    facts.teb = thread_information(thread.get()).value_or(ThreadInformation()).teb;
    NtQueryInformationThread(thread.get(), kStartAddress, &facts.start_address, sizeof facts.start_address, nullptr);
    FILETIME created{}, ended{}, kernel{}, user{};
    GetThreadTimes(thread.get(), &created, &ended, &kernel, &user);
    facts.create_time = number(created);
    facts.name = thread_description(thread.get());
    alignas(16) CONTEXT context{};
    context.ContextFlags = CONTEXT_FULL;
    GetThreadContext(thread.get(), &context);
    facts.registers = {{context.Rax, context.Rcx, context.Rdx, context.Rbx, context.Rsp, context.Rbp, context.Rsi,
                        context.Rdi, context.R8, context.R9, context.R10, context.R11, context.R12, context.R13,
                        context.R14, context.R15},
                       context.Rip};
  }
  return threads;
}

// Begin, bytes, state, protection, type.
using Region = std::tuple<std::uint64_t, std::uint64_t, std::uint32_t, std::uint32_t, std::uint32_t>;

std::vector<Region> live_regions(HANDLE process) {
  std::vector<Region> regions;
  MEMORY_BASIC_INFORMATION info;
  for (std::uint64_t at = 0; VirtualQueryEx(process, reinterpret_cast<const void*>(at), &info, sizeof info) != 0;) {
    regions.emplace_back(at, info.RegionSize, info.State, info.Protect, info.Type);
    at += info.RegionSize;
  }
  return regions;
}

// In pieces that cross no multiple of kPieceBytes, by their first address.
using Memory = std::map<std::uint64_t, std::vector<std::byte>>;

Memory live_memory(HANDLE process, const std::vector<Region>& regions) {
  const ProcessMemory memory(process);
  Memory pieces;
  for (const auto& [begin, bytes, state, protection, type] : regions) {
    if (kind_of_pages(state, protection) == MemoryKind::nothing) continue;
    for (std::uint64_t at = begin, next; at < begin + bytes; at = next) {
      next = std::min((at / kPieceBytes + 1) * kPieceBytes, begin + bytes);
      std::vector<std::byte> piece(next - at);
      if (memory.read(at, piece.data(), piece.size())) pieces[at] = std::move(piece);
    }
  }
  return pieces;
}

// Base, size, timestamp, path.
using Module = std::tuple<std::uint64_t, std::uint32_t, std::uint32_t, std::string>;

std::vector<Module> live_modules(HANDLE process) {
  std::vector<HMODULE> listed(1024);
  DWORD bytes = 0;
  EnumProcessModules(process, listed.data(), static_cast<DWORD>(listed.size() * sizeof(HMODULE)), &bytes);
  listed.resize(std::min<std::size_t>(listed.size(), bytes / sizeof(HMODULE)));
  std::vector<Module> modules;
  for (const HMODULE module : listed) {
    const auto base = reinterpret_cast<std::uint64_t>(module);
    const ProcessMemory memory(process);
    IMAGE_DOS_HEADER dos{};
    IMAGE_NT_HEADERS64 headers{};
    memory.read(base, &dos, sizeof dos);
    memory.read(base + static_cast<std::uint32_t>(dos.e_lfanew), &headers, sizeof headers);
    wchar_t path[MAX_PATH * 4] = L"";
    GetModuleFileNameExW(process, module, path, std::size(path));
    modules.emplace_back(base, headers.OptionalHeader.SizeOfImage, headers.FileHeader.TimeDateStamp,
                         ascii_lower(to_utf8(path)));
  }
  std::ranges::sort(modules);
  return modules;
}

// The dump of a suspended hang.exe, written once for all cases, with the facts of the process at that time.
class SystemMinidump : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (usual_memory_writer() == MemoryBy::us) return;
    path_ = temporary_file("system_minidump_test.dmp");
    hang_.emplace(std::vector<std::string>{fixture("hang.exe")});
    ASSERT_TRUE(hang_->read_line().value_or("").starts_with("READY"));
    suspension_.emplace(hang_->id());
    threads_ = live_threads(hang_->id());
    times_before_ = live_times(hang_->id());
    regions_ = live_regions(hang_->handle());
    memory_ = live_memory(hang_->handle(), regions_);
    {
      const UniqueHandle file(CreateFileW(to_utf16(path_).c_str(), GENERIC_WRITE, FILE_SHARE_READ, nullptr,
                                          CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr));
      auto writer = MinidumpWriter::start(hang_->handle(), hang_->id(), file.get(), MemoryBy::system);
      ASSERT_TRUE(writer) << writer.failure().message;
      ASSERT_TRUE(writer->wait(kEndMs));
      ASSERT_EQ(writer->error(), "");
    }
    times_after_ = live_times(hang_->id());
    // Nothing else has changed meanwhile.
    ASSERT_EQ(live_threads(hang_->id()), threads_);
    ASSERT_EQ(live_regions(hang_->handle()), regions_);
    file_.emplace(path_);
    dump_.emplace(Minidump::parse(file_->bytes()));
    ASSERT_EQ(dump_->error(), MinidumpError::none);
  }
  static void TearDownTestSuite() {
    memory_.clear();
    suspension_.reset();
    dump_.reset();
    file_.reset();
    if (!hang_) return;
    hang_->write_line("STOP");
    EXPECT_EQ(hang_->wait(kEndMs), 0u);
    hang_.reset();
    remove_file(path_);
  }
  void SetUp() override {
    if (!hang_) GTEST_SKIP() << "not run: Wine's MiniDumpWriteDump writes few of the lists (dbghelp_real_windows)";
    ASSERT_TRUE(dump_);
  }

  static inline std::string path_;
  static inline std::optional<ChildProcess> hang_;
  static inline std::optional<ProcessSuspension> suspension_;
  static inline Threads threads_;
  static inline ProcessorTimes times_before_, times_after_;
  static inline std::vector<Region> regions_;
  static inline Memory memory_;
  static inline std::optional<MappedFile> file_;
  static inline std::optional<Minidump> dump_;
};

TEST_F(SystemMinidump, TheProcessAndTheSystem) {
  OSVERSIONINFOW version{.dwOSVersionInfoSize = sizeof version};
  reinterpret_cast<LONG(WINAPI*)(OSVERSIONINFOW*)>(
      reinterpret_cast<void*>(GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "RtlGetVersion")))(&version);
  SYSTEM_INFO system{};
  GetSystemInfo(&system);
  EXPECT_EQ(dump_->process_id(), hang_->id());
  EXPECT_EQ(dump_->system().major, version.dwMajorVersion);
  EXPECT_EQ(dump_->system().minor, version.dwMinorVersion);
  EXPECT_EQ(dump_->system().build, version.dwBuildNumber);
  EXPECT_EQ(dump_->system().processors, system.dwNumberOfProcessors);
  EXPECT_EQ(dump_->missing_bytes(), 0u);
}

TEST_F(SystemMinidump, ThreadsWithTheirNamesAndRegisters) {
  Threads dumped;
  std::size_t names = 0;
  for (const MinidumpThread& thread : dump_->threads()) {
    ASSERT_TRUE(thread.registers);
    dumped[thread.id] = {thread.teb, thread.start_address, thread.create_time, thread.name, *thread.registers};
    names += !thread.name.empty();
  }
  EXPECT_THAT(dumped, ElementsAreArray(threads_));
  EXPECT_GE(names, 10u);
}

TEST_F(SystemMinidump, ProcessorTimesOfThreads) {
  std::uint64_t sum = 0;
  for (const MinidumpThread& thread : dump_->threads()) {
    const std::uint64_t dumped = thread.kernel_time + thread.user_time;
    EXPECT_GE(dumped, times_before_[thread.id]);
    EXPECT_LE(dumped, times_after_[thread.id]);
    sum += dumped;
  }
  EXPECT_GT(sum, 0u);
}

TEST_F(SystemMinidump, RegionsOfMemory) {
  std::vector<Region> dumped;
  for (const MinidumpRegion& region : dump_->regions()) {
    dumped.emplace_back(region.begin, region.bytes, region.state, region.protection, region.type);
  }
  EXPECT_THAT(dumped, ElementsAreArray(regions_));
  EXPECT_GE(dumped.size(), 100u);
}

TEST_F(SystemMinidump, Modules) {
  std::vector<Module> dumped;
  for (const MinidumpModule& module : dump_->modules()) {
    dumped.emplace_back(module.base, module.size, module.timestamp, ascii_lower(module.path));
  }
  std::ranges::sort(dumped);
  EXPECT_THAT(dumped, ElementsAreArray(live_modules(hang_->handle())));
}

// Some memory changes although all threads are suspended: the clocks of the system, what is shared with other processes
// and, under Wine, the pieces with the TEBs. (VirtualQueryEx lets a thread of the target answer, even if it is
// suspended, and the stack of signals lies behind its TEB.)
TEST_F(SystemMinidump, AllMemoryThatCanBeRead) {
  const DumpMemory dumped(*dump_);
  const ProcessMemory live(hang_->handle());
  const auto has_teb = [&](std::uint64_t begin) {
    return std::ranges::any_of(threads_, [&](const auto& thread) {
      return thread.second.teb / kPieceBytes == begin / kPieceBytes;
    });
  };
  std::size_t same = 0, changed = 0;
  for (const auto& [begin, before] : memory_) {
    SCOPED_TRACE(begin);
    std::vector<std::byte> now(before.size()), found(before.size());
    ASSERT_TRUE(dumped.read(begin, found.data(), found.size()));
    if (has_teb(begin) || !live.read(begin, now.data(), now.size()) || now != before) {
      ++changed;
    } else {
      ASSERT_TRUE(found == before);
      ++same;
    }
  }
  EXPECT_GE(same, 1'000u);
  EXPECT_LE(changed, threads_.size() + 20);
}

// The stacks that a debugger sees lie in the memory that the list of threads names.
TEST_F(SystemMinidump, StacksFromTheStackPointerToTheBase) {
  for (const MinidumpThread& thread : dump_->threads()) {
    SCOPED_TRACE(thread.name);
    NT_TIB tib{};
    ASSERT_TRUE(ProcessMemory(hang_->handle()).read(thread.teb, &tib, sizeof tib));
    EXPECT_LE(thread.stack_begin, thread.registers->rsp());
    EXPECT_EQ(thread.stack_begin + thread.stack_bytes, reinterpret_cast<std::uint64_t>(tib.StackBase));
  }
}

// MINIDUMP_THREAD_NAME, which the headers of mingw-w64 lack.
#pragma pack(push, 4)
struct ThreadName {
  ULONG32 thread;
  ULONG64 name;  // offset in the file
};
#pragma pack(pop)
constexpr ULONG kThreadNamesStream = 24;

// The system reads the tables that mixwalk adds if the writer is Wine's.
TEST(SystemMinidumpReader, FindsTheMemoryAndTheNamesThatMixwalkAdds) {
  const std::string path = temporary_file("system_minidump_reader.dmp");
  ChildProcess hang({fixture("hang.exe")});
  ASSERT_TRUE(hang.read_line().value_or("").starts_with("READY"));
  {
    const UniqueHandle into(CreateFileW(to_utf16(path).c_str(), GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE,
                                        nullptr, CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr));
    auto writer = MinidumpWriter::start(hang.handle(), hang.id(), into.get(), MemoryBy::us);
    ASSERT_TRUE(writer) << writer.failure().message;
    ASSERT_TRUE(writer->wait(kEndMs));
    ASSERT_EQ(writer->error(), "");
  }
  {
    const MappedFile file(path);
    const Minidump dump = Minidump::parse(file.bytes());
    const auto stream_of = [&](ULONG kind, ULONG& bytes) -> const std::byte* {
      MINIDUMP_DIRECTORY* directory = nullptr;
      void* stream = nullptr;
      const BOOL found =
          MiniDumpReadDumpStream(const_cast<std::byte*>(file.bytes().data()), kind, &directory, &stream, &bytes);
      return found ? static_cast<const std::byte*>(stream) : nullptr;
    };
    ULONG bytes = 0;
    const auto* const memory = reinterpret_cast<const MINIDUMP_MEMORY64_LIST*>(stream_of(Memory64ListStream, bytes));
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(bytes, 16 + memory->NumberOfMemoryRanges * sizeof(MINIDUMP_MEMORY_DESCRIPTOR64));
    std::uint64_t end = memory->BaseRva;
    for (ULONG64 i = 0; i < memory->NumberOfMemoryRanges; ++i) end += memory->MemoryRanges[i].DataSize;
    EXPECT_EQ(end, file.bytes().size());
    const auto* const names = stream_of(kThreadNamesStream, bytes);
    ASSERT_NE(names, nullptr);
    ULONG32 count = 0;
    std::memcpy(&count, names, sizeof count);
    ASSERT_EQ(bytes, sizeof count + count * sizeof(ThreadName));
    std::map<std::uint32_t, std::string> named, expected;
    for (ULONG32 i = 0; i < count; ++i) {
      const auto& entry = reinterpret_cast<const ThreadName*>(names + sizeof count)[i];
      const auto* const text = reinterpret_cast<const MINIDUMP_STRING*>(file.bytes().data() + entry.name);
      ASSERT_LE(text->Length, 200u);
      named[entry.thread] = to_utf8({text->Buffer, text->Length / sizeof(wchar_t)});
    }
    for (const auto& [id, thread] : live_threads(hang.id())) {
      if (!thread.name.empty()) expected[id] = thread.name;
    }
    EXPECT_EQ(named, expected);
    EXPECT_GE(named.size(), 10u);
    EXPECT_EQ(dump.threads().size(), live_threads(hang.id()).size());
  }
  remove_file(path);
  hang.write_line("STOP");
  EXPECT_EQ(hang.wait(kEndMs), 0u);
}

}  // namespace
}  // namespace mixwalk
