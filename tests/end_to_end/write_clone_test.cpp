// Tests a dump file of a process's clone, with functions that stand for those of the system (fake_snapshots.h): the
// process runs while its clone is written, the clone always ends, and whatever fails, the process itself is written.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <windows.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "tests/builders/dump_builder.h"
#include "tests/builders/win/fake_snapshots.h"
#include "tests/builders/win/kept_ledger.h"
#include "tests/support/win/suspend_counts.h"
#include "unmanaged/minidump/mapped_file.h"
#include "unmanaged/minidump/minidump.h"
#include "unmanaged/minidump/whole_dump.h"
#include "unmanaged/win/utf8.h"
#include "walker/session/win/win_error.h"

namespace mixwalk {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr DWORD kLongMs = 60'000;

HRESULT set_name(HANDLE thread, const wchar_t* name) {
  const auto set = reinterpret_cast<HRESULT(WINAPI*)(HANDLE, const wchar_t*)>(
      reinterpret_cast<void*>(GetProcAddress(GetModuleHandleW(L"kernel32.dll"), "SetThreadDescription")));
  return set(thread, name);
}

class WriteClone : public testing::Test {
 protected:
  WriteClone() : path_(temporary_file("write_clone_test.dmp")) {
    EXPECT_EQ(target_.read_line().value_or(""), "STARTED");
    file_ = UniqueHandle(CreateFileW(to_utf16(path_).c_str(), GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE,
                                     nullptr, CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr));
    EXPECT_TRUE(file_);
  }
  ~WriteClone() override {
    writer_.reset();
    file_.reset();
    remove_file(path_);
  }

  void start() {
    auto writer = MinidumpWriter::start(target_.handle(), target_.id(), file_.get(), MemoryBy::us, hooks());
    ASSERT_TRUE(writer) << writer.failure().message;
    writer_.emplace(std::move(*writer));
  }
  WriterHooks hooks() {
    WriterHooks hooks = fake_.hooks();
    hooks.clone_ms = clone_ms_;
    return hooks;
  }
  void run() {
    ASSERT_NO_FATAL_FAILURE(start());
    ASSERT_TRUE(writer_->wait(kLongMs));
  }
  std::size_t listed() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(ledger_->slots, [](const auto& slot) { return slot != 0; }));
  }
  // The process itself was written, with all of its memory, and runs.
  void expect_process_written() {
    EXPECT_EQ(writer_->error(), "");
    EXPECT_GT(writer_->frozen_ns(), 0u);
    file_.reset();
    EXPECT_EQ(why_not_whole(path_), "");
    EXPECT_TRUE(all_are(suspend_counts(target_.id()), 0));
    EXPECT_EQ(listed(), 0u);
  }

  ChildProcess target_{{"C:\\windows\\system32\\cmd.exe", "/q", "/k", "echo", "STARTED"}};
  const std::string path_;
  UniqueHandle file_;
  const KeptLedger ledger_{target_.id()};
  FakeSnapshots fake_;
  DWORD clone_ms_ = kCloneMs;
  std::optional<MinidumpWriter> writer_;
};

TEST_F(WriteClone, TheProcessStandsOnlyUntilItIsCloned) {
  const std::size_t threads = list_threads(target_.id())->size();
  std::size_t listed_capturing = 0, listed_writing = 1;
  bool at_work_capturing = false, at_work_writing = true, cancelled = true;
  SuspendCounts capturing, writing;
  fake_.while_capturing = [&] {
    capturing = suspend_counts(target_.id());
    listed_capturing = listed();
    at_work_capturing = ledger_->writer_at_work;
  };
  fake_.write = [&](auto, auto, auto, const auto& callback) {
    writing = suspend_counts(target_.id());
    listed_writing = listed();
    at_work_writing = ledger_->writer_at_work;
    cancelled = FakeSnapshots::answer(callback, CancelCallback).Cancel;
    return TRUE;
  };
  run();
  EXPECT_EQ(writer_->error(), "");
  EXPECT_EQ(writer_->why_no_clone(), "");
  EXPECT_THAT(fake_.calls, ElementsAre("capture", "query", "write", "free"));
  EXPECT_TRUE(all_are(capturing, 1));
  EXPECT_EQ(listed_capturing, threads) << "the watcher could not resume all";
  EXPECT_TRUE(at_work_capturing) << "the watcher would not undo what PssCaptureSnapshot suspends";
  EXPECT_TRUE(all_are(writing, 0));
  EXPECT_EQ(listed_writing, 0u);
  EXPECT_FALSE(at_work_writing);
  EXPECT_FALSE(cancelled);
  EXPECT_EQ(writer_->threads(), threads);
}

TEST_F(WriteClone, TheCloneHasAllThatTheDumpNeeds) {
  run();
  EXPECT_EQ(fake_.captured_id, target_.id());
  // PSS_CAPTURE_VA_CLONE, _HANDLES with all about them, _THREADS with their contexts, _VA_SPACE with its sections,
  // PSS_CREATE_BREAKAWAY_OPTIONAL, _BREAKAWAY, _RELEASE_SECTION.
  EXPECT_EQ(fake_.captured_what, 0x8C00'1BFDu);
  EXPECT_EQ(fake_.captured_registers, static_cast<DWORD>(CONTEXT_ALL));
  EXPECT_EQ(fake_.written_type & MiniDumpWithFullMemory, MiniDumpWithFullMemory);
  EXPECT_EQ(fake_.written_type & MiniDumpWithHandleData, MiniDumpWithHandleData);
  EXPECT_TRUE(fake_.clone_ended_before_free);
  EXPECT_TRUE(target_.running());
}

// The fake writer knows no names, as a snapshot has none; the dump has those of the moment of the clone.
TEST_F(WriteClone, ThreadsHaveTheNamesOfThatMoment) {
  const std::uint32_t id = list_threads(target_.id())->front();
  const UniqueHandle thread(OpenThread(THREAD_SET_LIMITED_INFORMATION, FALSE, id));
  ASSERT_TRUE(thread);
  ASSERT_GE(set_name(thread.get(), L"Ada"), 0);
  fake_.write = [&](DWORD, HANDLE file, PMINIDUMP_USER_STREAM_INFORMATION streams, auto&&...) {
    EXPECT_GE(set_name(thread.get(), L"Bob"), 0);
    test::DumpBuilder dump;
    dump.thread({.id = id, .teb = 0x7000});
    for (ULONG i = 0; i < streams->UserStreamCount; ++i) {
      const MINIDUMP_USER_STREAM& stream = streams->UserStreamArray[i];
      const auto* const bytes = static_cast<const std::byte*>(stream.Buffer);
      dump.stream(stream.Type, std::vector<std::byte>(bytes, bytes + stream.BufferSize));
    }
    const auto bytes = dump.without_names().build();
    DWORD done = 0;
    return WriteFile(file, bytes.data(), static_cast<DWORD>(bytes.size()), &done, nullptr);
  };
  run();
  EXPECT_EQ(writer_->error(), "");
  file_.reset();
  const MappedFile mapped(path_);
  const Minidump dump = Minidump::parse(mapped.bytes());
  ASSERT_EQ(dump.threads().size(), 1u);
  EXPECT_EQ(dump.threads().front().name, "Ada");
}

// The writing takes long, and the process runs meanwhile.
TEST_F(WriteClone, TheTimeThatItStoodIsWithoutTheWriting) {
  const UniqueHandle writing(CreateEventW(nullptr, TRUE, FALSE, nullptr));
  const UniqueHandle go_on(CreateEventW(nullptr, TRUE, FALSE, nullptr));
  fake_.write = [&](auto&&...) {
    SetEvent(writing.get());
    WaitForSingleObject(go_on.get(), kLongMs);
    return TRUE;
  };
  start();
  ASSERT_EQ(WaitForSingleObject(writing.get(), kLongMs), WAIT_OBJECT_0);
  EXPECT_FALSE(writer_->wait(0));
  const std::uint64_t stood = writer_->frozen_ns();
  SetEvent(go_on.get());
  ASSERT_TRUE(writer_->wait(kLongMs));
  EXPECT_GT(stood, 0u);
  EXPECT_EQ(writer_->frozen_ns(), stood);
}

TEST_F(WriteClone, AProcessThatEndsWhileItsCloneIsWrittenIsWritten) {
  fake_.write = [&](auto&&...) {
    target_.terminate();
    return TRUE;
  };
  run();
  EXPECT_FALSE(target_.running());
  EXPECT_EQ(writer_->error(), "");
  EXPECT_EQ(writer_->why_no_clone(), "");
}

TEST_F(WriteClone, WithoutTheFunctionsTheProcessIsWritten) {
  auto writer = MinidumpWriter::start(target_.handle(), target_.id(), file_.get(), MemoryBy::us, {.snapshots = {}});
  ASSERT_TRUE(writer) << writer.failure().message;
  writer_.emplace(std::move(*writer));
  ASSERT_TRUE(writer_->wait(kLongMs));
  EXPECT_EQ(writer_->why_no_clone(), "this system cannot clone processes");
  expect_process_written();
}

TEST_F(WriteClone, WithoutRoomForACloneTheProcessIsWritten) {
  fake_.memory_of = 51 << 20;
  run();
  EXPECT_THAT(fake_.calls, IsEmpty());
  EXPECT_EQ(writer_->why_no_clone(), "it has 51 MiB of private memory, and the system has 100 MiB left");
  expect_process_written();
}

TEST_F(WriteClone, WhatCannotBeCapturedIsWrittenItself) {
  fake_.capture_error = ERROR_COMMITMENT_LIMIT;
  run();
  EXPECT_THAT(fake_.calls, ElementsAre("capture"));
  EXPECT_EQ(writer_->why_no_clone(), "the system did not clone it: " + error_text(ERROR_COMMITMENT_LIMIT));
  expect_process_written();
}

TEST_F(WriteClone, ASnapshotWithoutACloneIsFreed) {
  fake_.query_error = ERROR_NOT_FOUND;
  run();
  EXPECT_THAT(fake_.calls, ElementsAre("capture", "query", "free"));
  EXPECT_EQ(writer_->why_no_clone(), "the system did not clone it: " + error_text(ERROR_NOT_FOUND));
  expect_process_written();
}

TEST_F(WriteClone, ACloneThatIsTheProcessItselfIsNotEnded) {
  fake_.named_clone = target_.handle();
  run();
  EXPECT_THAT(fake_.calls, ElementsAre("capture", "query", "free"));
  EXPECT_TRUE(target_.running());
  expect_process_written();
}

// MiniDumpWriteDump sets an HRESULT.
TEST_F(WriteClone, IfTheWriterRefusesTheCloneTheProcessIsWritten) {
  fake_.write = [&](auto, HANDLE file, auto, auto&&...) {
    DWORD done = 0;
    WriteFile(file, "MDMP", 4, &done, nullptr);  // has begun
    SetLastError(static_cast<DWORD>(HRESULT_FROM_WIN32(ERROR_INVALID_HANDLE)));
    return FALSE;
  };
  run();
  EXPECT_THAT(fake_.calls, ElementsAre("capture", "query", "write", "free"));
  EXPECT_TRUE(fake_.clone_ended_before_free);
  EXPECT_EQ(writer_->why_no_clone(),
            "MiniDumpWriteDump did not write the clone: " + error_text(ERROR_INVALID_HANDLE));
  expect_process_written();
}

// The process would stand for nothing: the disk is full.
TEST_F(WriteClone, IfTheDiskIsFullTheProcessIsNotWritten) {
  fake_.write = [&](auto&&...) {
    SetLastError(static_cast<DWORD>(HRESULT_FROM_WIN32(ERROR_DISK_FULL)));
    return FALSE;
  };
  run();
  EXPECT_THAT(fake_.calls, ElementsAre("capture", "query", "write", "free"));
  EXPECT_EQ(writer_->error(), error_text(ERROR_DISK_FULL));
  EXPECT_EQ(GetFileSize(file_.get(), nullptr), 0u);
}

TEST_F(WriteClone, ACaptureThatTakesTooLongLetsTheProcessRun) {
  clone_ms_ = 50;
  bool ran = false;
  fake_.while_capturing = [&] { ran = static_cast<bool>(all_run_within(target_.id(), kLongMs)); };
  run();
  EXPECT_TRUE(ran);
  EXPECT_THAT(fake_.calls, ElementsAre("capture", "query", "free")) << "its memory and registers are of two moments";
  EXPECT_EQ(writer_->why_no_clone(), "the system did not clone it: " + error_text(ERROR_TIMEOUT));
  expect_process_written();
}

TEST_F(WriteClone, CtrlCWhileItIsCapturedLetsTheProcessRun) {
  const UniqueHandle begun(CreateEventW(nullptr, TRUE, FALSE, nullptr));
  const UniqueHandle cancelled(CreateEventW(nullptr, TRUE, FALSE, nullptr));
  bool listed_still = false;
  fake_.while_capturing = [&] {
    SetEvent(begun.get());
    WaitForSingleObject(cancelled.get(), kLongMs);
    listed_still = listed() != 0;
  };
  start();
  ASSERT_EQ(WaitForSingleObject(begun.get(), kLongMs), WAIT_OBJECT_0);
  writer_->cancel();
  EXPECT_TRUE(all_are(suspend_counts(target_.id()), 0));
  SetEvent(cancelled.get());
  ASSERT_TRUE(writer_->wait(kLongMs));
  EXPECT_TRUE(listed_still) << "the watcher would not undo what PssCaptureSnapshot suspends";
  EXPECT_EQ(listed(), 0u);
  EXPECT_THAT(fake_.calls, ElementsAre("capture", "query", "free"));
  EXPECT_TRUE(fake_.clone_ended_before_free);
  EXPECT_EQ(writer_->error(), error_text(ERROR_CANCELLED));
}

TEST_F(WriteClone, CtrlCWhileItIsWrittenWaitsForTheEndOfTheClone) {
  const UniqueHandle begun(CreateEventW(nullptr, TRUE, FALSE, nullptr));
  fake_.write = [&](auto, auto, auto, const auto& callback) {
    for (DWORD waited = 0; waited < kLongMs && !FakeSnapshots::answer(callback, CancelCallback).Cancel; waited += 10) {
      SetEvent(begun.get());
      Sleep(10);
    }
    SetLastError(static_cast<DWORD>(HRESULT_FROM_WIN32(ERROR_CANCELLED)));
    return FALSE;
  };
  start();
  ASSERT_EQ(WaitForSingleObject(begun.get(), kLongMs), WAIT_OBJECT_0);
  writer_->cancel();
  EXPECT_TRUE(writer_->wait(0));
  EXPECT_THAT(fake_.calls, ElementsAre("capture", "query", "write", "free"));
  EXPECT_FALSE(fake_.clone.running());
  EXPECT_EQ(writer_->error(), error_text(ERROR_CANCELLED));
  EXPECT_TRUE(all_are(suspend_counts(target_.id()), 0));
}

}  // namespace
}  // namespace mixwalk
