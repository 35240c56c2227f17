#include "walker/clr/win/worker_questions.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/win/child_process.h"
#include "unmanaged/win/utf8.h"

namespace mixwalk {
namespace {

// Far longer than a real answer takes, and short for a test.
constexpr std::uint32_t kAnswerMs = 1500;

std::string beside_this_program(const std::string& name) {
  WCHAR path[MAX_PATH];
  const DWORD length = GetModuleFileNameW(nullptr, path, MAX_PATH);
  const std::string own = to_utf8({path, length});
  return own.substr(0, own.find_last_of('\\') + 1) + name;
}

// `answer_ms`: short only for a library that does not answer, because on a busy machine each answer may take seconds.
WorkerQuestions::Settings settings(const std::string& dac, std::uint32_t answer_ms = kClrAnswerMs) {
  return {.program = to_utf16(beside_this_program("clr_worker_host.exe")),
          .dac_path = beside_this_program(dac),
          .runtime_base = 0x1'0000,
          .process = GetCurrentProcess(),
          .answer_ms = answer_ms};
}

// Expects that no worker is left, and that every answer is empty.
void expect_no_answers(WorkerQuestions& questions) {
  EXPECT_EQ(questions.code_at(0x7000), std::nullopt);
  EXPECT_EQ(questions.method(0x7000), ClrMethod{});
  EXPECT_EQ(questions.code_name(0x7000), "");
  EXPECT_TRUE(questions.threads().empty());
  questions.target_ran();
  const UniqueHandle worker(OpenProcess(SYNCHRONIZE, FALSE, questions.worker_id()));
  if (worker) {
    EXPECT_EQ(WaitForSingleObject(worker.get(), 0), WAIT_OBJECT_0);
  }
}

TEST(WorkerQuestions, LibraryThatHangsAsItIsOpened) {
  const ULONGLONG begin = GetTickCount64();
  WorkerQuestions::Settings hanging = settings("dac_hangs_at_once.dll", kAnswerMs);
  hanging.open_ms = kAnswerMs;
  WorkerQuestions questions(hanging);
  EXPECT_EQ(questions.obstacle(), "the DAC did not answer within 1500 ms");
  expect_no_answers(questions);
  // The deadline passes once; the questions behind it do not wait again.
  EXPECT_GE(GetTickCount64() - begin, kAnswerMs - 50);
}

TEST(WorkerQuestions, LibraryThatHangsAtAQuestion) {
  WorkerQuestions questions(settings("dac_hangs_later.dll", kAnswerMs));
  EXPECT_EQ(questions.obstacle(), "");
  EXPECT_EQ(questions.code_at(0x7000), std::nullopt);
  EXPECT_EQ(questions.obstacle(), "the DAC did not answer within 1500 ms");
  expect_no_answers(questions);
}

TEST(WorkerQuestions, ProcessThatEndsDuringAQuestion) {
  ChildProcess process({"C:\\windows\\system32\\cmd.exe", "/k"});
  WorkerQuestions::Settings of_process = settings("dac_hangs_later.dll");
  of_process.process = process.handle();
  WorkerQuestions questions(of_process);
  EXPECT_EQ(questions.obstacle(), "");
  process.terminate();
  EXPECT_EQ(questions.code_at(0x7000), std::nullopt);
  EXPECT_EQ(questions.obstacle(), "the process has ended");
  expect_no_answers(questions);
}

TEST(WorkerQuestions, LibraryThatCrashes) {
  for (const char* dac : {"dac_crashes.dll", "dac_overflows.dll"}) {
    SCOPED_TRACE(dac);
    WorkerQuestions questions(settings(dac));
    EXPECT_EQ(questions.obstacle(), "");
    EXPECT_EQ(questions.code_at(0x7000), std::nullopt);
    EXPECT_EQ(questions.obstacle(), "the DAC crashed");
    expect_no_answers(questions);
  }
}

TEST(WorkerQuestions, LibraryThatLiesCostsTheNamesOnly) {
  WorkerQuestions questions(settings("dac_lies.dll"));
  const auto code = questions.code_at(0x7000);
  ASSERT_TRUE(code);
  EXPECT_FALSE(code->jitted);
  EXPECT_LE(questions.method(0x7000).name.size(), kMaxNameBytes);
  // There are at most as many threads as the limit, whatever the length of the list is.
  EXPECT_LE(questions.threads().size(), kMaxClrThreads);
  const auto blocks = questions.sync_blocks(1);
  ASSERT_TRUE(blocks);
  EXPECT_EQ(blocks->blocks.size(), kMaxSyncBlocks);
  EXPECT_EQ(blocks->next, kMaxSyncBlocks + 1);
  const std::vector<std::uint64_t> objects{0x1000, 0x2000};
  const auto types = questions.object_types(objects);
  ASSERT_EQ(types.size(), 2u);
  EXPECT_LE(types[0].size(), kMaxNameBytes);
  EXPECT_EQ(questions.heap_object_types(objects).size(), 2u);
  const std::vector<std::uint64_t> places{0x1000, reinterpret_cast<std::uint64_t>(&questions)};
  EXPECT_EQ(questions.lock_objects(places), (std::vector<std::optional<ClrLock>>{std::nullopt, std::nullopt}));
  EXPECT_EQ(questions.obstacle(), "");
}

TEST(WorkerQuestions, FileThatIsNoLibrary) {
  WorkerQuestions missing(settings("no_such_file.dll"));
  EXPECT_TRUE(missing.obstacle().starts_with("cannot load ")) << missing.obstacle();
  expect_no_answers(missing);
  WorkerQuestions other(settings("dac_is_none.dll"));
  EXPECT_TRUE(other.obstacle().ends_with(" is no debugging library of .NET")) << other.obstacle();
  expect_no_answers(other);
}

TEST(WorkerQuestions, LibraryThatWindowsRefuses) {
  WorkerQuestions refused(settings("refused_library.dll"));
  EXPECT_NE(refused.obstacle().find("refused_library.dll: the file could not be initialised"), std::string::npos)
      << refused.obstacle();
  expect_no_answers(refused);
}

TEST(WorkerQuestions, ProgramThatIsNoWorker) {
  auto wrong = settings("dac_lies.dll");
  wrong.program = L"C:\\no\\such\\program.exe";
  WorkerQuestions questions(wrong);
  EXPECT_TRUE(questions.obstacle().starts_with("cannot start the worker: ")) << questions.obstacle();
  expect_no_answers(questions);
}

TEST(WorkerQuestions, WorkerThatAnotherEnds) {
  WorkerQuestions questions(settings("dac_lies.dll"));
  ASSERT_EQ(questions.obstacle(), "");
  const UniqueHandle worker(OpenProcess(PROCESS_TERMINATE, FALSE, questions.worker_id()));
  ASSERT_TRUE(worker);
  TerminateProcess(worker.get(), 1);
  EXPECT_EQ(questions.code_at(0x7000), std::nullopt);
  EXPECT_EQ(questions.obstacle(), "the DAC crashed");
}

TEST(WorkerQuestions, TheWorkerEndsWithItsOwner) {
  DWORD id = 0;
  UniqueHandle worker;
  {
    WorkerQuestions questions(settings("dac_lies.dll"));
    id = questions.worker_id();
    worker = UniqueHandle(OpenProcess(SYNCHRONIZE, FALSE, id));
    ASSERT_TRUE(worker);
    EXPECT_EQ(WaitForSingleObject(worker.get(), 0), static_cast<DWORD>(WAIT_TIMEOUT));
  }
  EXPECT_EQ(WaitForSingleObject(worker.get(), 2000), WAIT_OBJECT_0);
}

}  // namespace
}  // namespace mixwalk
