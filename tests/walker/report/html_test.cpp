#include "walker/report/html.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/builders/hang_samples.h"
#include "tests/builders/recordings.h"
#include "tests/builders/report_samples.h"
#include "tests/builders/snapshot_builder.h"
#include "tests/support/golden.h"
#include "walker/base/utf8.h"
#include "walker/hang/finding_words.h"
#include "walker/model/series.h"
#include "walker/report/page_parts.h"

namespace mixwalk {
namespace {

using Json = nlohmann::ordered_json;

std::string page_of(const Snapshot& dump, const FrameFilter& filter = {}) {
  StringSink out;
  EXPECT_TRUE(write_html_dumps({&dump, 1}, {.filter = filter}, out));
  return out.text;
}
std::string page_of(const Recording& recording) {
  StringSink out;
  EXPECT_TRUE(write_html_recording(ShownRecording(recording, true), {}, out));
  return out.text;
}

// Returns the document in a page; everything else in a page is fixed.
Json data_of(const std::string& page) {
  constexpr std::string_view kBegin = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = page.find(kBegin) + kBegin.size();
  return Json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

// Returns the labels of a stack, leaf first.
std::vector<std::string> labels(const Json& data, std::int64_t node) {
  std::vector<std::string> labels;
  while (node >= 0) {
    const auto frame = data["nodes"]["frame"][node].get<std::size_t>();
    labels.push_back(data["strings"][data["frames"]["label"][frame].get<std::size_t>()]);
    const auto up = data["nodes"]["up"][node].get<std::int64_t>();
    node = up == 0 ? -1 : node - up;
  }
  return labels;
}

TEST(Html, TheDataOfADumpIsTheGoldenOne) {
  expect_golden("report.json", data_of(page_of(representative_snapshot())).dump(1) + "\n");
}

TEST(Html, TheSameSnapshotGivesTheSameBytes) {
  EXPECT_EQ(page_of(hostile_snapshot()), page_of(hostile_snapshot()));
  EXPECT_EQ(page_of(representative_recording()), page_of(representative_recording()));
}

TEST(Html, AStackIsThatOfTheThread) {
  const Json data = data_of(page_of(representative_snapshot()));
  const Json& threads = data["dumps"][0]["threads"];
  EXPECT_EQ(
      labels(data, threads[0]["leaf"]),
      (std::vector<std::string>{"ntdll.dll!NtWaitForSingleObject", "orders.dll!0x102c",
                                "[P/Invoke] orders!wait_for_reply", "Orders.Client.Fetch<System.__Canon>(string)",
                                "orders.dll!submit_order", "Orders.Program.Main()", "ntdll.dll!RtlUserThreadStart"}));
  EXPECT_EQ(threads[2]["leaf"], -1);
  EXPECT_EQ(threads[2]["skipped"], "the thread is ending");
  EXPECT_EQ(threads[1]["state"], "partial");
  EXPECT_EQ(threads[1]["why"][0], "leaf run open: the code has no unwind data");
}

// The column is only there if a frame has a URL. The page makes links of URLs of http and https only.
TEST(Html, TheUrlsOfSourceFiles) {
  Snapshot snapshot = representative_snapshot();
  EXPECT_FALSE(data_of(page_of(snapshot))["frames"].contains("url"));
  snapshot.threads[0].stack.frames[3].source_url = "https://example.org/Client.cs";
  const std::string page = page_of(snapshot);
  const Json data = data_of(page);
  std::multiset<std::string> urls;
  for (const std::size_t url : data["frames"]["url"]) urls.insert(data["strings"][url]);
  EXPECT_EQ(urls.count("https://example.org/Client.cs"), 1u);
  EXPECT_EQ(urls.count(""), urls.size() - 1);
  EXPECT_NE(page.find("if (!/^https?:"), std::string::npos);
}

// If a name could end a script or begin a comment, the page would run code from the target.
TEST(Html, HostileNamesSurviveAndEndNothing) {
  const std::string page = page_of(hostile_snapshot()), plain = page_of(representative_snapshot());
  const auto count = [](const std::string& text, std::string_view what) {
    std::size_t times = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++times;
    return times;
  };
  for (const std::string_view what :
       {"<script", "</script", "<!--", "-->", "]]>", "<img", "\xe2\x80\xae", "\xe2\x80\xa8"}) {
    EXPECT_EQ(count(page, what), count(plain, what)) << what;
  }
  const Json data = data_of(page);
  std::vector<std::string> names;
  for (const Json& thread : data["dumps"][0]["threads"]) names.push_back(thread["name"]);
  const auto strings = data["strings"].get<std::vector<std::string>>();
  for (const std::string& name : hostile_names()) {
    const std::string valid = valid_utf8(name);
    EXPECT_NE(std::ranges::find(names, valid), names.end()) << valid.substr(0, 100);
    EXPECT_NE(std::ranges::find(strings, "orders.dll!" + valid), strings.end()) << valid.substr(0, 100);
    EXPECT_NE(std::ranges::find(strings, "C:\\src\\" + valid), strings.end()) << valid.substr(0, 100);
  }
}

TEST(Html, LocksSayWhoHoldsAndWhoWaits) {
  const Json lock = data_of(page_of(hostile_snapshot()))["dumps"][0]["locks"][0];
  EXPECT_EQ(lock["kind"], "monitor");
  EXPECT_EQ(lock["owner"], 0x200);
  EXPECT_EQ(lock["waiters"], Json::parse("[[516,false],[424,true]]"));
}

TEST(Html, TasksAreLinesBelowThreadsAndInAList) {
  const Snapshot snapshot = hostile_tasks_snapshot();
  const std::string page = page_of(snapshot);
  const Json dump = data_of(page)["dumps"][0];
  EXPECT_EQ(dump["threads"][0]["async"], Json::parse(R"json([
      [0, false, "await Orders.Window.LoadAsync()  (Window.cs:31)"],
      [0, false, "await Orders.Client.FetchAsync() → done, its continuation waits for thread 0x1a4 \"Orders worker\""]
      ])json"));
  EXPECT_EQ(dump["threads"][1]["async"],
            Json::parse(R"json([[0, false, "awaited by Orders.Feed.LoopAsync()  (Feed.cs:12)"]])json"));
  EXPECT_FALSE(dump["threads"][4].contains("async"));
  const Json& branches = dump["threads"][3]["async"];
  ASSERT_EQ(branches.size(), 5u);
  EXPECT_EQ(branches[4], Json::parse(R"([1, true, "2 more tasks"])"));
  EXPECT_EQ(dump["pool"], "213 items queued, 16 of 16 workers at work, 16 may work now, limits 4 and 32767");
  EXPECT_EQ(dump["tasks_missing"], "the time for tasks was over");
  // Three chains of add_async_work(), and one for each name.
  const std::size_t chains = 3 + hostile_names().size();
  EXPECT_EQ(dump["chains"], chains);
  EXPECT_EQ(dump["groups"], chains);
  ASSERT_EQ(dump["tasks"].size(), chains);
  for (const Json& group : dump["tasks"]) {
    EXPECT_EQ(group["count"], 1);
    EXPECT_FALSE(group["async"].empty());
    for (const Json& line : group["async"]) EXPECT_EQ(line.size(), 3u);
  }
  EXPECT_EQ(page.find("await <script"), std::string::npos);
}

TEST(Html, OnlySomeKindsOfChainsAreInThePage) {
  Snapshot snapshot = representative_snapshot();
  for (std::uint32_t i = 0; i < 1'003; ++i) {
    AsyncTask task;
    task.method = "C.M" + std::to_string(i) + "()";
    snapshot.tasks.push_back(task);
  }
  snapshot.tasks.push_back(snapshot.tasks.back());  // the largest group comes first
  const Json dump = data_of(page_of(snapshot))["dumps"][0];
  EXPECT_EQ(dump["chains"], 1'004);
  EXPECT_EQ(dump["groups"], 1'003);
  EXPECT_EQ(dump["tasks"].size(), 1'000u);
  EXPECT_EQ(dump["tasks"][0]["count"], 2);
}

TEST(Html, FramesOfTheRuntimeAreFoldedUnlessAllAreAskedFor) {
  const auto thread = [](const FrameFilter& filter) {
    return data_of(page_of(hostile_snapshot(), filter))["dumps"][0]["threads"][4];
  };
  EXPECT_EQ(thread({})["folds"], Json::parse(R"([[6,3,"the runtime"]])"));
  EXPECT_FALSE(thread({.all = true}).contains("folds"));
  EXPECT_FALSE(thread({.managed_only = true}).contains("folds"));
  EXPECT_FALSE(thread({.depth = 7}).contains("folds"));
}

TEST(Html, AFilterLeavesFramesOutAndIsSaid) {
  const Json data = data_of(page_of(representative_snapshot(), {.managed_only = true}));
  EXPECT_EQ(data["dumps"][0]["managed_only"], true);
  EXPECT_EQ(labels(data, data["dumps"][0]["threads"][0]["leaf"]),
            (std::vector<std::string>{"Orders.Client.Fetch<System.__Canon>(string)", "Orders.Program.Main()"}));
}

TEST(Html, CallsThatCannotBeAreMarked) {
  const Json threads = data_of(page_of(checked_snapshot()))["dumps"][0]["threads"];
  EXPECT_EQ(threads[0]["marks"], Json::parse(R"([[1,"after no call"]])"));
  EXPECT_EQ(threads[3]["marks"], Json::parse(R"([[1,"after a call of another function"]])"));
}

TEST(Html, ARecordingAddsUpToItsSamples) {
  Recording recording = representative_recording();
  recording.samples[0].standing = Standing::idle;
  const Json data = data_of(page_of(recording));
  std::uint64_t samples = 0, value = 0, expected = 0, idle = 0;
  const Json& sums = data["recording"]["sums"];
  for (std::size_t i = 0; i < sums.size(); i += 5) {
    EXPECT_FALSE(labels(data, sums[i + 1]).empty());
    if (sums[i + 2] == static_cast<int>(Standing::idle)) idle += sums[i + 3].get<std::uint64_t>();
    samples += sums[i + 3].get<std::uint64_t>();
    value += sums[i + 4].get<std::uint64_t>();
  }
  EXPECT_EQ(idle, 1u);
  for (const Recording::Sample& sample : recording.samples) expected += sample.value;
  EXPECT_EQ(samples, recording.samples.size());
  EXPECT_EQ(value, expected);
  EXPECT_EQ(data["recording"]["strips"].size(), recording.threads.size());
}

TEST(Html, ARecordingSaysTheRateThatWasReached) {
  Recording recording = parked_recording({.seconds = 10});
  EXPECT_EQ(data_of(page_of(recording))["recording"]["rate"], "10.0 samples a second of each thread, 100 asked for");
  recording.event = SampleEvent::cpu;
  EXPECT_EQ(data_of(page_of(recording))["recording"]["rate"], "");
}

TEST(Html, FindingsPointAtThreadsOfTheirDumps) {
  const std::vector<Snapshot> dumps = deadlock_snapshots();
  const std::vector<std::string> files = {"a.mixwalk", "b.mixwalk"};
  const Findings found = find_hangs(dumps, files);
  StringSink out;
  ASSERT_TRUE(write_html_dumps(dumps, {}, out, &found));
  const Json data = data_of(out.text);
  const Json& findings = data["findings"];
  EXPECT_EQ(findings["severity"], "deadlock");
  EXPECT_EQ(findings["files"], Json::parse(R"(["a.mixwalk","b.mixwalk"])"));
  ASSERT_FALSE(findings["findings"].empty());
  EXPECT_EQ(findings["findings"][0]["kind"], "deadlock");
  std::vector<std::uint32_t> ids;
  for (const Json& part : findings["findings"][0]["threads"]) {
    const Json& seen = findings["threads"][part["thread"].get<std::size_t>()]["seen"].back();
    const Json& thread = data["dumps"][seen[0].get<std::size_t>()]["threads"][seen[1].get<std::size_t>()];
    ids.push_back(thread["id"]);
    const std::vector<std::string> stack = labels(data, thread["leaf"]);
    EXPECT_FALSE(part["frames"].empty());
    for (const Json& frame : part["frames"]) EXPECT_LT(frame.get<std::size_t>(), stack.size());
  }
  EXPECT_EQ(ids, (std::vector<std::uint32_t>{0x200, 0x204}));
}

TEST(Html, EachProcessHasItsOwnHead) {
  std::vector<Snapshot> dumps = mixed_fleet_snapshots();
  dumps[1].process.command_line = "billing.exe --all";
  const std::vector<std::string> files = {"web1.mixwalk", "web2.mixwalk", "web3.mixwalk", "web4.mixwalk"};
  const Findings found = find_hangs(dumps, files);
  StringSink out;
  ASSERT_TRUE(write_html_dumps(dumps, {}, out, &found));
  const Json data = data_of(out.text);
  const auto text = [&](const char* list, std::size_t dump) {
    return data["strings"][data["findings"][list][dump].get<std::size_t>()].get<std::string>();
  };
  EXPECT_EQ(text("paths", 1), "D:\\billing\\billing.exe");
  EXPECT_EQ(text("commands", 1), "billing.exe --all");
  EXPECT_EQ(text("runtimes", 1), ".NET 8.0.31");
  EXPECT_EQ(text("runtimes", 3), ".NET 10.0.12");
  EXPECT_EQ(text("commands", 3), dumps[3].process.command_line);
}

TEST(Html, AcrossSaysWhichProcessesAreInTroubleAndWhatTheyHaveInCommon) {
  const std::vector<Snapshot> dumps = fleet_snapshots();
  const std::vector<std::string> files = {"web1.mixwalk", "web2.mixwalk", "web3.mixwalk", "web4.mixwalk"};
  const Findings findings = find_hangs(dumps, files);
  const Fleet fleet = find_fleet(dumps, findings);
  StringSink out, without;
  ASSERT_TRUE(write_html_dumps(dumps, {}, out, &findings, &fleet));
  const Json data = data_of(out.text)["findings"];
  EXPECT_EQ(data["process"], Json::parse("[0,1,2,3]"));
  EXPECT_EQ(data["pids"], Json::parse("[4711,4712,4713,4714]"));
  EXPECT_EQ(data["across"]["sick"], Json::parse("[true,true,false,false]"));
  ASSERT_EQ(data["across"]["groups"].size(), fleet.groups.size());
  const Json& first = data["across"]["groups"][0];
  EXPECT_EQ(first["only_sick"], true);
  EXPECT_EQ(first["counts"].size(), 4u);
  for (const Json& thread : first["threads"]) EXPECT_LT(thread.get<std::size_t>(), data["threads"].size());
  ASSERT_TRUE(write_html_dumps(dumps, {}, without, &findings));
  EXPECT_FALSE(data_of(without.text)["findings"].contains("across"));
}

TEST(Html, TwoRecordingsShareTheirTables) {
  const auto [before, after] = compared_recordings();
  StringSink out;
  ASSERT_TRUE(write_html_difference(before, after, {"a.mixwalk", "b.mixwalk"}, "", out));
  const Json data = data_of(out.text);
  EXPECT_FALSE(data.contains("recording"));
  ASSERT_EQ(data["compared"].size(), 2u);
  const Recording* const recordings[] = {&before, &after};
  for (std::size_t side = 0; side < 2; ++side) {
    const Json& one = data["compared"][side];
    std::uint64_t value = 0, expected = 0;
    for (std::size_t i = 0; i < one["sums"].size(); i += 5) {
      EXPECT_EQ(labels(data, one["sums"][i + 1]).back(), "ntdll.dll!RtlUserThreadStart");
      value += one["sums"][i + 4].get<std::uint64_t>();
    }
    for (const Recording::Sample& sample : recordings[side]->samples) expected += sample.value;
    EXPECT_EQ(value, expected);
    EXPECT_EQ(one["file"], side == 0 ? "a.mixwalk" : "b.mixwalk");
  }
}

// The page looks verdicts up by the words in the data: for their order, the filter and the legend.
TEST(Html, ThePageKnowsEachVerdict) {
  const std::string_view script = page_parts::script();
  const std::size_t begin = script.find("const VERDICTS = {");
  ASSERT_NE(begin, std::string_view::npos);
  const std::string_view table = script.substr(begin, script.find("};", begin) - begin);
  for (int i = 0; i <= static_cast<int>(Verdict::gone); ++i) {
    const std::string row = "\n  " + std::string(enum_name(static_cast<Verdict>(i))) + ": '";
    EXPECT_NE(table.find(row), std::string_view::npos) << row;
  }
}

// A forged file has a dump for each sample, and each dump has the modules of all.
TEST(Html, ASeriesOfTooManyDumpsIsRefused) {
  Recording recording = to_recording(representative_snapshot());
  EXPECT_EQ(html_refusal(recording), "");
  const Recording::Sample sample = recording.samples[0];
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    recording.samples.push_back(sample);
    recording.samples.back().time_ns = i;
  }
  EXPECT_NE(html_refusal(recording), "");
}

TEST(Html, OnlyDumpsCanBeTooLarge) {
  EXPECT_EQ(html_refusal(representative_recording()), "");
  EXPECT_EQ(html_refusal(to_recording(representative_snapshot())), "");
}

// This is the project's limit: three dumps of 1,000 threads must be below 3 MB.
TEST(Html, ThreeDumpsOf1000ThreadsAreBelow3Megabytes) {
  const Snapshot dumps[] = {many_threads_snapshot(1000, 0), many_threads_snapshot(1000, 1),
                            many_threads_snapshot(1000, 2)};
  StringSink out;
  ASSERT_TRUE(write_html_dumps(dumps, {}, out));
  EXPECT_LT(out.text.size(), 3'000'000u);
  RecordProperty("bytes", static_cast<int>(out.text.size()));
}

TEST(Html, ADumpOfACrashSaysSo) {
  const Json data = data_of(page_of(test::crashed_program()));
  const Json& crash = data["dumps"][0]["crash"];
  EXPECT_EQ(crash["title"], "Crash: access violation (0xc0000005): it wrote to 0x0, a null pointer");
  EXPECT_EQ(crash["details"], Json({"Orders.Failed: no stock", "inner exception: System.IO.IOException"}));
  EXPECT_EQ(crash["thread"], 0x204);
  EXPECT_EQ(crash["frames"], Json({0, 1, 2, 3}));
  EXPECT_FALSE(data_of(page_of(representative_snapshot()))["dumps"][0].contains("crash"));
}

TEST(Html, TheExceptionsThatAThreadHandles) {
  const Json data = data_of(page_of(checked_snapshot()));
  const Json& threads = data["dumps"][0]["threads"];
  EXPECT_EQ(threads[0]["handles"],
            Json({"handles Orders.OutOfStock: \"no screws\"", "inner exception: System.IO.IOException"}));
  EXPECT_FALSE(threads[1].contains("handles"));
}

}  // namespace
}  // namespace mixwalk
