// Tests a process that is not cloned while a dump file of it is written: it is suspended and runs again, Ctrl-C, both
// ways to write the memory.

#include <gtest/gtest.h>
#include <windows.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tests/builders/win/kept_ledger.h"
#include "tests/end_to_end/hang_suite.h"
#include "tests/support/utf8_path.h"
#include "tests/support/win/child_process.h"
#include "tests/support/win/suspend_counts.h"
#include "unmanaged/minidump/mapped_file.h"
#include "unmanaged/minidump/minidump.h"
#include "unmanaged/minidump/whole_dump.h"
#include "unmanaged/win/thread_information.h"
#include "unmanaged/win/utf8.h"
#include "walker/base/exit_code.h"
#include "walker/outside/writing/minidump_writer.h"
#include "walker/session/win/thread_list.h"
#include "walker/session/win/win_error.h"
#include "walker/target/suspension/process_suspension.h"
#include "walker/target/suspension/suspension_ledger.h"

namespace mixwalk {
namespace {

constexpr DWORD kEndMs = 60'000;

class WriteDump : public HangSuite {
 protected:
  static void TearDownTestSuite() { stop(kEndMs); }

  WriteDump() : path_(temporary_file("write_dump_test.dmp")) {}
  ~WriteDump() override {
    EXPECT_TRUE(all_are(suspend_counts(hang_->id()), 0));
    remove_file(path_);
  }

  UniqueHandle create() const {
    return UniqueHandle(CreateFileW(to_utf16(path_).c_str(), GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE, nullptr,
                                    CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr));
  }

  const std::string path_;
};

TEST_F(WriteDump, AllThreadsStandAndRunAgain) {
  ProcessSuspension suspension(hang_->id());
  EXPECT_EQ(suspension.threads().size(), list_threads(hang_->id())->size());
  EXPECT_TRUE(all_are(suspend_counts(hang_->id()), 1));
  EXPECT_EQ(suspension.frozen_ns(), 0u);
  suspension.end();
  EXPECT_GT(suspension.frozen_ns(), 0u);
  suspension.end();  // a second end() is not needed, and does no harm
}

TEST_F(WriteDump, BeforeTheMemoryIsWrittenItCanBeCancelled) {
  UniqueHandle file = create();
  auto writer = MinidumpWriter::start(hang_->handle(), hang_->id(), file.get(), MemoryBy::us, {.snapshots = {}});
  ASSERT_TRUE(writer) << writer.failure().message;
  EXPECT_TRUE(all_are(suspend_counts(hang_->id()), 1));
  writer->cancel();
  EXPECT_TRUE(all_are(suspend_counts(hang_->id()), 0));
  ASSERT_TRUE(writer->wait(kEndMs));
  EXPECT_NE(writer->error(), "");
}

class ListedDump : public WriteDump {
 protected:
  std::size_t listed() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(ledger_->slots, [](const auto& slot) { return slot != 0; }));
  }

  const KeptLedger ledger_{hang_->id()};
};

// Whether, within this time, the suspend count of every thread that lives is lower than before.
bool all_stand_less_often_within(std::uint32_t process_id, const SuspendCounts& before, DWORD milliseconds) {
  const ULONGLONG end = GetTickCount64() + milliseconds;
  while (GetTickCount64() < end) {
    const SuspendCounts now = suspend_counts(process_id);
    const auto is_less = [&](const auto& thread) {
      const auto found = now.find(thread.first);
      return found == now.end() || found->second < thread.second;
    };
    if (std::ranges::all_of(before, is_less)) return true;
    Sleep(1);
  }
  return false;
}

// The watcher needs this if mixwalk.exe is ended meanwhile. After cancel(), Wine's writer continues, and may have a
// thread suspended. Microsoft's writer ends, and cancel() waits for that end.
TEST_F(ListedDump, AsLongAsTheSystemsWriterIsAtWork) {
  for (const bool cancel : {false, true}) {
    SCOPED_TRACE(cancel);
    const std::size_t threads = list_threads(hang_->id())->size();
    std::size_t while_writing = 0, after_cancel = 0;
    bool at_work = false;
    const UniqueHandle begun(CreateEventW(nullptr, TRUE, FALSE, nullptr));
    const UniqueHandle cancelled(CreateEventW(nullptr, TRUE, FALSE, nullptr));
    UniqueHandle file = create();
    const auto at_first_thread = [&] {
      at_work = ledger_->writer_at_work;
      while_writing = listed();
      SetEvent(begun.get());
      WaitForSingleObject(cancelled.get(), kEndMs);
      after_cancel = listed();
    };
    auto writer = MinidumpWriter::start(hang_->handle(), hang_->id(), file.get(), usual_memory_writer(),
                                        {.at_first_thread = at_first_thread, .snapshots = {}});
    ASSERT_TRUE(writer) << writer.failure().message;
    ASSERT_EQ(WaitForSingleObject(begun.get(), kEndMs), WAIT_OBJECT_0);
    std::thread canceller;
    if (cancel) {
      const SuspendCounts before = suspend_counts(hang_->id());
      canceller = std::thread([&] { writer->cancel(); });
      EXPECT_TRUE(all_stand_less_often_within(hang_->id(), before, kEndMs));
    }
    SetEvent(cancelled.get());
    EXPECT_TRUE(writer->wait(kEndMs));
    if (canceller.joinable()) canceller.join();
    EXPECT_TRUE(at_work);
    EXPECT_EQ(while_writing, threads);
    EXPECT_EQ(after_cancel, threads);
    EXPECT_FALSE(ledger_->writer_at_work);
    EXPECT_EQ(listed(), 0u);
    EXPECT_EQ(writer->error(), cancel ? error_text(ERROR_CANCELLED) : "");
  }
}

// Another program had suspended a thread before mixwalk.exe, and has resumed it before the writer begins.
TEST_F(ListedDump, TheCountsAreThoseFromTheWritersBegin) {
  const UniqueHandle thread(OpenThread(THREAD_SUSPEND_RESUME, FALSE, list_threads(hang_->id())->back()));
  SuspendThread(thread.get());
  ProcessSuspension suspension(hang_->id());
  ResumeThread(thread.get());
  ASSERT_TRUE(suspension.begin_writing());
  SuspendThread(thread.get());  // as the writer does
  EXPECT_EQ(resume_all(*ledger_), suspension.threads().size());
  EXPECT_TRUE(all_are(suspend_counts(hang_->id()), 0));
}

// Ctrl-C came before the writer. The process runs, and may start threads that nothing would list.
TEST_F(ListedDump, AfterTheEndTheWriterDoesNotBegin) {
  ProcessSuspension suspension(hang_->id());
  suspension.end();
  EXPECT_EQ(listed(), 0u);
  EXPECT_FALSE(suspension.begin_writing());
  EXPECT_FALSE(ledger_->writer_at_work);
}

TEST_F(WriteDump, CtrlCLetsTheProcessRunAndLeavesNoFile) {
  const HANDLE err = GetStdHandle(STD_ERROR_HANDLE), out = GetStdHandle(STD_OUTPUT_HANDLE);
  FreeConsole();
  const bool console = AllocConsole();
  SetStdHandle(STD_ERROR_HANDLE, err);
  SetStdHandle(STD_OUTPUT_HANDLE, out);
  if (!console) GTEST_SKIP() << "no console can be had here";
  SetConsoleCtrlHandler(nullptr, FALSE);
  ChildProcess writer({mixwalk_exe(), "dump", "-p", std::to_string(hang_->id()), "-o", path_});
  const ULONGLONG end = GetTickCount64() + kEndMs;
  while (!std::filesystem::exists(utf8_path(path_ + ".partial")) && GetTickCount64() < end) Sleep(1);
  SetConsoleCtrlHandler(nullptr, TRUE);
  ASSERT_TRUE(GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0)) << GetLastError();
  EXPECT_EQ(writer.wait(kEndMs), 0xC000013Au);
  EXPECT_FALSE(std::filesystem::exists(utf8_path(path_)));
  EXPECT_FALSE(std::filesystem::exists(utf8_path(path_ + ".partial")));
}

TEST_F(WriteDump, WhatCannotBeWrittenIsSaidBeforeAnythingStands) {
  const auto write = [&](const std::string& id, const std::string& path) {
    return run_program({mixwalk_exe(), "dump", "-p", id, "-o", path});
  };
  const std::string id = std::to_string(hang_->id());
  const ProgramResult nowhere = write(id, "none\\x.dmp"), device = write(id, "NUL.dmp"), nobody = write("99996", path_);
  EXPECT_EQ(nowhere.exit_code, static_cast<DWORD>(ExitCode::output)) << nowhere.err;
  EXPECT_EQ(device.exit_code, static_cast<DWORD>(ExitCode::output)) << device.err;
  EXPECT_NE(device.err.find("not a file"), std::string::npos) << device.err;
  EXPECT_EQ(nobody.exit_code, static_cast<DWORD>(ExitCode::no_process)) << nobody.err;
  EXPECT_FALSE(std::filesystem::exists(utf8_path(path_)));
}

// A program that has one thread and loads nothing but what every program loads, because Wine's writer is slow: of
// cmd.exe it would write two and a half times as much.
class WriteDumpOfSmall : public testing::Test {
 protected:
  WriteDumpOfSmall() : waits_({fixture("native_aot.exe")}) { EXPECT_EQ(waits_.read_line().value_or(""), "READY"); }
  ~WriteDumpOfSmall() override { waits_.terminate(); }

  ChildProcess waits_;
};

TEST_F(WriteDumpOfSmall, TheSystemsWriterWritesTheSameProcess) {
  std::vector<std::size_t> threads, modules;
  for (const MemoryBy memory : {MemoryBy::system, MemoryBy::us}) {
    const std::string path = temporary_file("write_dump_cmd.dmp");
    UniqueHandle file(CreateFileW(to_utf16(path).c_str(), GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE, nullptr,
                                  CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr));
    auto writer = MinidumpWriter::start(waits_.handle(), waits_.id(), file.get(), memory, {.snapshots = {}});
    ASSERT_TRUE(writer) << writer.failure().message;
    ASSERT_TRUE(writer->wait(200'000));
    EXPECT_EQ(writer->error(), "");
    EXPECT_GT(writer->frozen_ns(), 0u);
    file.reset();
    EXPECT_EQ(why_not_whole(path), "");
    {
      const MappedFile mapped(path);
      const Minidump dump = Minidump::parse(mapped.bytes());
      EXPECT_EQ(dump.error(), MinidumpError::none);
      EXPECT_EQ(dump.process_id(), waits_.id());
      EXPECT_EQ(dump.threads().size(), writer->threads());
      threads.push_back(dump.threads().size());
      modules.push_back(dump.modules().size());
      std::uint64_t bytes = 0;
      for (const MinidumpRange& range : dump.memory()) bytes += range.bytes;
      EXPECT_GT(bytes, 4u << 20);
    }
    remove_file(path);
    EXPECT_TRUE(all_are(suspend_counts(waits_.id()), 0));
  }
  EXPECT_EQ(threads.front(), threads.back());
  EXPECT_EQ(modules.front(), modules.back());
}

TEST_F(WriteDumpOfSmall, TheOutputSaysHowLongItStoodAndWhyThereIsNoClone) {
  const std::string path = temporary_file("write_dump_says.dmp");
  const std::string id = std::to_string(waits_.id());
  const ProgramResult written = run_program({mixwalk_exe(), "dump", "-v", "-p", id, "-o", path});
  EXPECT_EQ(written.exit_code, 0u);
  const auto says = [&](const char* text) { return written.err.find(text) != std::string::npos; };
  const bool clones = static_cast<bool>(system_snapshot_functions());
  EXPECT_TRUE(says("(native_aot.exe) stood for ")) << written.err;
  EXPECT_EQ(says("(a clone was written)"), clones) << written.err;
  EXPECT_EQ(says("(native_aot.exe) stood until all was written: this system cannot clone processes"), !clones)
      << written.err;
  remove_file(path);
}

// The limits of a thread's stack are read from its TEB, which is in the program's own memory and may say anything.
TEST_F(WriteDumpOfSmall, AStackThatIsAsLargeAsAllMemory) {
  std::size_t lies = 0;
  const auto ids = list_threads(waits_.id());
  ASSERT_TRUE(ids);
  for (const std::uint32_t id : *ids) {
    const UniqueHandle thread(OpenThread(THREAD_ALL_ACCESS, FALSE, id));
    const auto info = thread_information(thread.get());
    if (!info) continue;
    const std::uint64_t base = 0x7FFF'FFFF'0000;
    const auto limit = reinterpret_cast<void*>(info->teb + offsetof(NT_TIB, StackBase));
    lies += static_cast<bool>(WriteProcessMemory(waits_.handle(), limit, &base, sizeof base, nullptr));
  }
  EXPECT_GE(lies, 1u);
  const std::string path = temporary_file("write_dump_lies.dmp");
  {
    UniqueHandle file(CreateFileW(to_utf16(path).c_str(), GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE, nullptr,
                                  CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr));
    auto writer = MinidumpWriter::start(waits_.handle(), waits_.id(), file.get(), usual_memory_writer(),
                                        {.snapshots = {}});
    ASSERT_TRUE(writer);
    EXPECT_TRUE(writer->wait(kEndMs));
  }
  remove_file(path);
}

// It is ended while the system's writer is at work, or while mixwalk adds the memory.
TEST(WriteDumpOfHang, OfAProcessThatIsEndedMeanwhileIsNone) {
  for (const bool early : {true, false}) {
    SCOPED_TRACE(early);
    ChildProcess hang({fixture("hang.exe")});
    ASSERT_TRUE(hang.read_line().value_or("").starts_with("READY"));
    const std::string path = temporary_file("write_dump_ended.dmp");
    {
      UniqueHandle file(CreateFileW(to_utf16(path).c_str(), GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE, nullptr,
                                    CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr));
      bool ended_meanwhile = false;
      const auto end = [&] {
        hang.terminate();
        ended_meanwhile = !hang.running();
      };
      auto writer = early ? MinidumpWriter::start(hang.handle(), hang.id(), file.get(), usual_memory_writer(),
                                                  {.at_first_thread = end, .snapshots = {}})
                          : MinidumpWriter::start(hang.handle(), hang.id(), file.get(), MemoryBy::us,
                                                  {.after_first_piece = end, .snapshots = {}});
      ASSERT_TRUE(writer);
      ASSERT_TRUE(writer->wait(kEndMs));
      EXPECT_TRUE(ended_meanwhile);
      EXPECT_NE(writer->error(), "");
    }
    remove_file(path);
  }
}

}  // namespace
}  // namespace mixwalk
