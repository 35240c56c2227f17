// Tests the findings as text and as JSON.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/builders/hang_builder.h"
#include "tests/builders/hang_samples.h"
#include "tests/support/golden.h"
#include "walker/export/findings_json.h"
#include "walker/export/findings_text.h"

namespace mixwalk {
namespace {

Findings find(const std::vector<Snapshot>& dumps) {
  std::vector<std::string> files;
  for (std::size_t i = 0; i < dumps.size(); ++i) files.push_back("orders" + std::to_string(i + 1) + ".mixwalk");
  return find_hangs(dumps, files);
}

std::string text(const std::vector<Snapshot>& dumps, FindingsTextOptions options = {}) {
  StringSink sink;
  EXPECT_TRUE(write_findings_text(dumps, find(dumps), options, sink));
  return sink.text;
}

std::string json(const std::vector<Snapshot>& dumps) {
  StringSink sink;
  EXPECT_TRUE(write_findings_json(dumps, find(dumps), "0.0.0", sink));
  return sink.text;
}

TEST(FindingsOutputTest, TextOfADeadlock) { expect_golden("hang-deadlock.txt", text(test::deadlocked_program())); }
TEST(FindingsOutputTest, TextOfTrouble) { expect_golden("hang-trouble.txt", text(test::troubled_program())); }
TEST(FindingsOutputTest, TextOfAll) {
  expect_golden("hang-trouble-all.txt", text(test::troubled_program(), {.all = true}));
}
TEST(FindingsOutputTest, TextInColour) {
  expect_golden("hang-deadlock-colour.txt", text(test::deadlocked_program(), {.colour = true}));
}
TEST(FindingsOutputTest, TextOfAHealthyProgram) { expect_golden("hang-healthy.txt", text(test::healthy_program())); }
TEST(FindingsOutputTest, OfSeveralProcessesAFindingNamesItsOwn) {
  std::vector<Snapshot> dumps = {test::deadlocked_program().back(), test::deadlocked_program().back()};
  dumps[1].process.path = "C:\\other\\orders.exe";
  const std::string both = text(dumps);
  EXPECT_NE(both.find("Deadlock of 2 threads  in process 4711, orders1.mixwalk\n"), std::string::npos) << both;
  EXPECT_NE(both.find("Deadlock of 2 threads  in process 4711, orders2.mixwalk\n"), std::string::npos) << both;
  EXPECT_EQ(text(test::deadlocked_program()).find("in process 4711"), std::string::npos);
}

TEST(FindingsOutputTest, JsonOfADeadlock) { expect_golden("hang-deadlock.json", json(test::deadlocked_program())); }

// Before, each gap was "[gap: no reason is known]".
TEST(FindingsOutputTest, AGapSaysWhyFramesAreMissing) {
  std::vector<Snapshot> dumps;
  for (const std::uint64_t time : {1'795'412'335'000, 1'795'412'345'000}) {
    test::HangBuilder builder(time);
    builder.thread(1, {"ntdll!NtWaitForSingleObject", "orders_native!get", "gap"});
    builder.last().stack.frames.back().why = OpenReason::no_unwind;
    dumps.push_back(builder.snapshot());
  }
  const std::string gap = "[gap: the code has no unwind data]", out = text(dumps, {.all = true});
  EXPECT_NE(out.find("at " + gap), std::string::npos) << out;
  EXPECT_NE(out.find("1 " + gap), std::string::npos) << out;
  EXPECT_NE(json(dumps).find(gap), std::string::npos);
}

// Two threads that wait at the same place for different tasks.
TEST(FindingsOutputTest, WordsOfAGroupHoldForAllOfItsThreads) {
  const auto group = [](const char* second) {
    test::HangBuilder builder;
    for (const std::uint32_t id : {1u, 2u}) {
      builder.thread(id, test::managed_thread({"ntdll!NtWaitForSingleObject", "coreclr!",
                                               "M System.Threading.Monitor.Wait(System.Object)",
                                               "M System.Threading.Tasks.Task.InternalWait(System.Int32)",
                                               "M Orders.Submit()"}));
      builder.waits_for(id - 1);
      builder.task({.kind = TaskKind::io, .method = id == 1 ? "Orders.FetchAsync()" : second});
    }
    return text({builder.snapshot()});
  };
  EXPECT_NE(group("Orders.FetchAsync()").find("outside: waits for Orders.FetchAsync()\n"), std::string::npos);
  const std::string differ = group("Orders.SendAsync()");
  EXPECT_NE(differ.find("outside: waits for a task (sync over async)\n"), std::string::npos) << differ;
}

TEST(FindingsOutputTest, OneScreen) {
  for (const auto& dumps : {test::deadlocked_program(), test::troubled_program(), test::healthy_program()}) {
    EXPECT_LE(std::ranges::count(text(dumps), '\n'), 100);
  }
}

TEST(FindingsOutputTest, ACircleOfTenThousandIsOneScreen) {
  constexpr std::uint32_t kThreads = 10'000;
  test::HangBuilder builder;
  for (std::uint32_t i = 1; i <= kThreads; ++i) {
    builder.thread(i, test::managed_thread({"ntdll!NtWaitForSingleObject", "M Orders.Submit()"}));
    builder.monitor(i, i, {i == 1 ? kThreads : i - 1});
  }
  const std::vector<Snapshot> dumps = {builder.snapshot()};
  const std::string out = text(dumps);
  EXPECT_LE(std::ranges::count(out, '\n'), 100);
  EXPECT_NE(out.find("… 9988 more threads (--all)"), std::string::npos) << out;
  EXPECT_GT(std::ranges::count(text(dumps, {.all = true}), '\n'), kThreads);
}

TEST(FindingsOutputTest, AHundredDumpsAreOneScreen) {
  std::vector<Snapshot> dumps(100, test::healthy_program()[0]);
  for (std::uint32_t i = 0; i < dumps.size(); ++i) dumps[i].process.id = 100 + i;
  const std::string out = text(dumps);
  EXPECT_NE(out.find("  dump 10  "), std::string::npos);
  EXPECT_EQ(out.find("  dump 11  "), std::string::npos);
  EXPECT_NE(out.find("\n  … 90 more dumps (--all)\n"), std::string::npos) << out.substr(0, 2000);
  EXPECT_NE(text(dumps, {.all = true}).find("  dump 100  "), std::string::npos);
}

TEST(FindingsOutputTest, HostileNamesDoNotMoveATerminal) {
  for (const bool all : {false, true}) {
    const std::string out = text(test::hostile_program(), {.all = all});
    EXPECT_EQ(out.find('\x1b'), std::string::npos);
    EXPECT_EQ(out.find("\u202E"), std::string::npos);
    EXPECT_NE(out.find("<script>alert(1)</script>"), std::string::npos);
    EXPECT_LT(out.size(), 40'000u);
    EXPECT_NE(out.find("Deadlock of 2 threads"), std::string::npos);
  }
}

TEST(FindingsOutputTest, HostileNamesAreWholeInJson) {
  const std::string out = json(test::hostile_program());
  EXPECT_TRUE(std::ranges::all_of(out, [](char c) { return c == '\n' || (c >= 0x20 && c < 0x7F); }));
  const auto parsed = nlohmann::json::parse(out);
  EXPECT_EQ(parsed["result"], "crash");
  EXPECT_EQ(parsed["threads"][1]["name"].get<std::string>().size(), 65536u);
}

TEST(FindingsOutputTest, NoDumpsAreNoTrouble) {
  EXPECT_FALSE(text({}).empty());
  EXPECT_FALSE(json({Snapshot()}).empty());
}

}  // namespace
}  // namespace mixwalk
