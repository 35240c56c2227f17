#include "walker/shown/shown_stacks.h"

#include <gtest/gtest.h>

#include "tests/builders/recordings.h"
#include "tests/builders/snapshot_builder.h"
#include "walker/model/series.h"

namespace mixwalk {
namespace {

std::vector<std::string> leaf_first(const ShownStacks& stacks, const ShownStacks::Paths& paths, std::uint32_t node) {
  std::vector<std::string> labels;
  for (; node != Recording::kNone; node = paths.nodes[node].parent) {
    labels.push_back(stacks.frames()[paths.nodes[node].frame].label);
  }
  return labels;
}
std::vector<std::string> leaf_first(const ShownStacks& stacks, std::uint32_t node) {
  return leaf_first(stacks, stacks.whole(), node);
}

Recording recording_of(SampleEvent event) {
  Recording recording;
  recording.event = event;
  recording.threads.push_back({.os_id = 7});
  recording.details = {"a \xff word"};
  recording.frames.push_back({.kind = FrameKind::managed, .name = "Main()"});
  recording.nodes.push_back({});
  return recording;
}

TEST(ShownStacks, ASampleWithoutStackIsAWord) {
  Recording recording = recording_of(SampleEvent::dump);
  recording.samples = {{}, {.detail = 0}, {.detail = 0}};
  const ShownStacks stacks(recording);
  using Labels = std::vector<std::string>;
  EXPECT_EQ(leaf_first(stacks, stacks.leaves()[0]), Labels{"[no stack]"});
  EXPECT_EQ(leaf_first(stacks, stacks.leaves()[1]), Labels{"[no stack: a \uFFFD word]"});
  EXPECT_EQ(stacks.leaves()[1], stacks.leaves()[2]);
}

TEST(ShownStacks, ASystemNameIsAnotherOneThanTheLabel) {
  Recording recording = recording_of(SampleEvent::wall);
  recording.frames = {{.kind = FrameKind::managed, .name = "A.Put(Key[])"},
                      {.kind = FrameKind::managed, .name = "A.Put(System.Int32[])"},
                      {.kind = FrameKind::native, .name = "std::put<int>(int)"}};
  const ShownStacks stacks(recording);
  EXPECT_EQ(stacks.frames()[0].system_name(), "");
  EXPECT_EQ(stacks.frames()[1].label, "A.Put(int[])");
  EXPECT_EQ(stacks.frames()[1].system_name(), "A.Put(System.Int32[])");
  EXPECT_EQ(stacks.frames()[2].system_name(), "");
  EXPECT_EQ(ShownStacks::Frame{.label = "[no stack]"}.system_name(), "");
}

TEST(ShownStacks, FoldsTheRuntimesOwnFramesAsTextDoes) {
  Recording recording = recording_of(SampleEvent::wall);
  recording.modules = {{.base = 0x1000, .size = 0x1000, .path = "C:\\dotnet\\coreclr.dll"},
                       {.base = 0x3000, .size = 0x1000, .path = "C:\\Windows\\System32\\ntdll.dll"}};
  const auto native = [](std::int32_t module, std::string name) {
    return Frame{.address_kind = AddressKind::return_address, .address = 0x1010, .module = module,
                 .name = std::move(name)};
  };
  const std::string start = "System.Threading.Thread.StartCallback()";
  recording.frames = {native(1, "RtlUserThreadStart"), native(0, ""), {.kind = FrameKind::managed, .name = start},
                      {.kind = FrameKind::managed, .name = "A.Run()"}};
  recording.frames[1].address = 0x1234;
  recording.nodes = {{Recording::kNone, 0}, {0, 1}, {1, 1}, {2, 2}, {3, 3}};
  recording.samples = {{.stack = 4}, {.stack = 3}, {.stack = 4}, {}};
  using Labels = std::vector<std::string>;
  const ShownStacks stacks(recording, true);
  const std::vector<std::uint32_t>& leaves = stacks.folded().leaves;
  EXPECT_EQ(leaf_first(stacks, stacks.folded(), leaves[0]), (Labels{"A.Run()", start, "[thread start]"}));
  EXPECT_EQ(leaf_first(stacks, stacks.folded(), leaves[1]), (Labels{start, "[thread start]"}));
  EXPECT_EQ(leaves[2], leaves[0]);
  EXPECT_EQ(leaf_first(stacks, stacks.folded(), leaves[3]), Labels{"[no stack]"});
  EXPECT_EQ(leaf_first(stacks, stacks.leaves()[0]).size(), 5u);
  EXPECT_EQ(leaf_first(ShownStacks(recording), 4).size(), 5u);
}

TEST(ShownStacks, OfADumpAreThoseOfItsRecording) {
  Snapshot dump = representative_snapshot();
  dump.threads.push_back(dump.threads.front());  // a second thread with the same stack
  const FrameFilter all{.all = true};
  const Recording recording = to_recording(dump);
  const ShownStacks of_dump(dump, all), of_recording(recording);
  ASSERT_EQ(of_dump.leaves().size(), dump.threads.size());
  for (std::size_t i = 0; i < dump.threads.size(); ++i) {
    EXPECT_EQ(leaf_first(of_dump, of_dump.leaves()[i]), leaf_first(of_recording, of_recording.leaves()[i])) << i;
    EXPECT_EQ(of_dump.has_stack(i), !dump.threads[i].stack.frames.empty()) << i;
  }
  EXPECT_EQ(of_dump.nodes(), of_recording.nodes());
  EXPECT_EQ(of_dump.leaves().front(), of_dump.leaves().back());
}

TEST(ShownStacks, OfADumpAreWhatTheFilterLeaves) {
  const Snapshot dump = representative_snapshot();
  const ShownStacks stacks(dump, {.managed_only = true});
  EXPECT_EQ(leaf_first(stacks, stacks.leaves()[0]),
            (std::vector<std::string>{"Orders.Client.Fetch<System.__Canon>(string)", "Orders.Program.Main()"}));
}

TEST(ShownStacks, ALeafAndAStandingAreOneNumber) {
  Recording recording = recording_of(SampleEvent::wall);
  recording.samples = {{.stack = 0, .standing = Standing::idle}, {.stack = 0, .standing = Standing::runs}};
  const auto leaves = standing_leaves(recording, {7, 7});
  EXPECT_NE(leaves[0], leaves[1]);
  EXPECT_EQ(leaf_in(leaves[0]), 7u);
  EXPECT_EQ(standing_in(leaves[0]), Standing::idle);
  EXPECT_EQ(standing_in(leaves[1]), Standing::runs);
}

TEST(ShownStacks, MethodsThatReadAlikeKeepTheirRawNames) {
  Recording recording = recording_of(SampleEvent::wall);
  const auto label_of = [&](std::vector<std::string> names, std::size_t which) {
    recording.frames.clear();
    for (std::string& name : names) {
      recording.frames.push_back({.kind = FrameKind::managed, .name = std::move(name)});
    }
    return ShownStacks(recording).frames()[which].label;
  };
  const std::string one = "A+<Fetch>d__1.MoveNext()", other = "A+<Fetch>d__2.MoveNext()";
  EXPECT_EQ(label_of({one, one}, 0), "A.Fetch()");
  EXPECT_EQ(label_of({one, other, "B.C()"}, 0), one);
  EXPECT_EQ(label_of({one, other, "B.C()"}, 1), other);
  EXPECT_EQ(label_of({one, other, "B.C(System.Int32)"}, 2), "B.C(int)");
}

TEST(ShownStacks, MethodsThatReadAlikeStillSayThatTheyWereGuessed) {
  Recording recording = recording_of(SampleEvent::wall);
  recording.frames = {
      {.kind = FrameKind::managed, .trust = Trust::scan, .name = "A+<Fetch>d__1.MoveNext()"},
      {.kind = FrameKind::managed, .trust = Trust::scan, .name = "A+<Fetch>d__2.MoveNext()"}};
  const ShownStacks stacks(recording);
  EXPECT_EQ(stacks.frames()[0].label, "A+<Fetch>d__1.MoveNext() [guessed]");
  EXPECT_EQ(stacks.frames()[1].label, "A+<Fetch>d__2.MoveNext() [guessed]");
  recording.frames[1].trust = Trust::runtime;
  const ShownStacks mixed(recording);
  EXPECT_EQ(mixed.frames()[0].label, "A+<Fetch>d__1.MoveNext() [guessed]");
  EXPECT_EQ(mixed.frames()[1].label, "A+<Fetch>d__2.MoveNext()");
}

TEST(ShownStacks, WhatItHappenedToIsOnTopOfItsStack) {
  for (const SampleEvent event : {SampleEvent::exception, SampleEvent::allocation,
                                  SampleEvent::class_load, SampleEvent::module_load}) {
    Recording recording = recording_of(event);
    recording.samples = {{.stack = 0, .detail = 0}, {.stack = 0}};
    const ShownStacks stacks(recording);
    EXPECT_EQ(leaf_first(stacks, stacks.leaves()[0]),
              (std::vector<std::string>{"a \uFFFD word", "Main()"}));
    EXPECT_EQ(stacks.leaves()[1], 0u);
  }
}

TEST(ShownStacks, AParentComesBeforeItsChildren) {
  const Recording recording = representative_recording(SampleEvent::allocation);
  const ShownStacks stacks(recording);
  ASSERT_GT(stacks.nodes().size(), recording.nodes.size());
  for (std::size_t i = 0; i < stacks.nodes().size(); ++i) {
    const Recording::Node& node = stacks.nodes()[i];
    EXPECT_TRUE(node.parent == Recording::kNone || node.parent < i) << i;
    EXPECT_LT(node.frame, stacks.frames().size());
  }
}

TEST(ShownStacks, AThreadWithoutNameIsItsNumber) {
  EXPECT_EQ(thread_label({.os_id = 0x1a4}), "thread 0x1a4");
  EXPECT_EQ(thread_label({.os_id = 1, .name = "\xff"}), "\uFFFD");
}

}  // namespace
}  // namespace mixwalk
