#include "walker/hang/standings.h"

#include <gtest/gtest.h>

#include "tests/builders/hang_builder.h"
#include "walker/model/series.h"

namespace mixwalk {
namespace {

using test::HangBuilder;
using test::managed_thread;
using test::native_thread;

// A recording of one sample of each of these stacks.
Recording recording_of(const std::vector<std::vector<std::string>>& stacks, SampleEvent event = SampleEvent::wall) {
  HangBuilder builder;
  for (const auto& frames : stacks)
    builder.thread(static_cast<std::uint32_t>(builder.snapshot().threads.size() + 1), frames);
  Recording recording = to_recording(builder.snapshot());
  recording.event = event;
  return recording;
}

std::vector<Standing> standings(const Recording& recording) {
  std::vector<Standing> found;
  for (const Recording::Sample& sample : recording.samples) found.push_back(sample.standing);
  return found;
}

const std::string kOrders = "M Orders.Service.Run()";
const std::vector<std::string> kMessageLoop = managed_thread(
    {"win32u!NtUserGetMessage", "user32!GetMessageW", "M System.Windows.Forms.Application+X.Loop()", kOrders});
const std::vector<std::string> kReadLine = managed_thread(
    {"ntdll!NtReadFile", "kernelbase!ReadFile", "M Interop+Kernel32.ReadFile(System.IntPtr)",
     "M System.ConsolePal+WindowsConsoleStream.Read(System.Span)", "M System.Console.ReadLine()", kOrders});
const std::vector<std::string> kWork = managed_thread({"orders_native!work", kOrders});

TEST(Standings, TheSameRulesServeRecordingsAndComparisons) {
  Recording recording = recording_of({kMessageLoop, kReadLine, kWork,
                                      native_thread({"ntdll!NtQueryVirtualMemory", "orders_native!look"}), {}});
  mark_standings(recording);
  EXPECT_EQ(standings(recording), (std::vector{Standing::idle, Standing::waits, Standing::runs, Standing::unknown,
                                               Standing::unknown}));
}

TEST(Standings, AWaitForAnUnknownReasonIsAWait) {
  Recording recording = recording_of({native_thread({"ntdll!NtWaitForSingleObject", "gap"})});
  mark_standings(recording);
  EXPECT_EQ(standings(recording), std::vector{Standing::waits});
}

TEST(Standings, TheThreadOfAnEventRan) {
  Recording recording = recording_of({kWork, kReadLine}, SampleEvent::exception);
  mark_standings(recording);
  EXPECT_EQ(standings(recording), (std::vector{Standing::unknown, Standing::unknown}));
}

TEST(Standings, OnlyNewSamplesAreMarkedWhileImagesAreMet) {
  Recording all = recording_of({kMessageLoop, kWork});
  Recording some = all;
  some.samples.resize(1);
  some.modules.resize(some.modules.size() - 1);
  RecordedStandings marker;
  marker.mark(some, 0);
  EXPECT_EQ(standings(some), std::vector{Standing::idle});
  all.samples[0].standing = Standing::runs;  // would be put right if it were looked at
  marker.mark(all, 1);
  EXPECT_EQ(standings(all), (std::vector{Standing::runs, Standing::runs}));
}

TEST(Standings, TheTablesOfAnotherPieceAreMetAnew) {
  RecordedStandings marker;
  Recording first = recording_of({kMessageLoop}), second = recording_of({kWork});
  marker.mark(first, 0);
  marker.begin_anew();
  marker.mark(second, 0);
  EXPECT_EQ(standings(second), std::vector{Standing::runs});
}

TEST(Standings, AFileThatHasThemKeepsThem) {
  Recording recording = recording_of({kMessageLoop, kWork});
  recording.samples[0].standing = Standing::runs;
  complete_standings(recording);
  EXPECT_EQ(standings(recording), (std::vector{Standing::runs, Standing::unknown}));
  recording.samples[0].standing = Standing::unknown;
  complete_standings(recording);
  EXPECT_EQ(standings(recording), (std::vector{Standing::idle, Standing::runs}));
}

}  // namespace
}  // namespace mixwalk
