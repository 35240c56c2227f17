#include "walker/export/json.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tests/builders/snapshot_builder.h"
#include "tests/support/golden.h"
#include "unmanaged/hex.h"
#include "walker/shown/frame_label.h"

namespace mixwalk {
namespace {

std::string json_of(const Snapshot& snapshot, const FrameFilter& filter = {}) {
  StringSink sink;
  EXPECT_TRUE(write_json(snapshot, filter, sink));
  return sink.text;
}

TEST(Json, OneOfEverything) { expect_golden("dump.json", json_of(checked_snapshot())); }

// All threads together would take far more memory as JSON's values than they do in the snapshot.
TEST(Json, EachThreadIsWrittenByItself) {
  class LargestWrite final : public ByteSink {
   public:
    bool write(std::string_view bytes) override {
      text += bytes;
      largest = std::max(largest, bytes.size());
      return true;
    }
    std::string text;
    std::size_t largest = 0;
  };
  Snapshot snapshot = representative_snapshot();
  const std::vector<Thread> threads = snapshot.threads;
  for (const std::size_t times : {0u, 1u, 20u}) {
    snapshot.threads.clear();
    for (std::size_t i = 0; i < times; ++i) {
      snapshot.threads.insert(snapshot.threads.end(), threads.begin(), threads.end());
    }
    LargestWrite sink;
    ASSERT_TRUE(write_json(snapshot, {}, sink));
    const auto dump = nlohmann::ordered_json::parse(sink.text);
    EXPECT_EQ(dump.at("threads").size(), times * threads.size());
    EXPECT_EQ(sink.text, dump.dump(1, ' ', true) + "\n") << "other text than that of the whole document";
    if (times > 1) {
      EXPECT_LT(sink.largest, sink.text.size() / 4);
    }
  }
}

TEST(Json, WithoutAsynchronousWorkThereAreNoFieldsAboutIt) {
  const auto dump = nlohmann::json::parse(json_of(representative_snapshot()));
  for (const char* const name : {"tasks", "contexts", "thread_pool", "tasks_missing", "task_groups"}) {
    EXPECT_FALSE(dump.contains(name)) << name;
  }
  for (const char* const name : {"traits", "waits_for_task", "queue_position", "async_frames"}) {
    EXPECT_FALSE(dump.at("threads")[0].contains(name)) << name;
  }
  EXPECT_FALSE(dump.at("locks")[0].contains("sharers"));
}

TEST(Json, EveryReferenceLeadsSomewhere) {
  const auto dump = nlohmann::json::parse(json_of(representative_snapshot()));
  for (const auto& thread : dump.at("threads")) {
    for (const auto& frame : thread.at("frames")) {
      if (frame.at("run").is_number()) {
        EXPECT_LT(frame.at("run"), thread.at("runs").size());
      }
      if (frame.contains("module") && frame.at("module").is_number()) {
        EXPECT_LT(frame.at("module"), dump.at("modules").size());
      }
    }
  }
}

// So that a reader needs no table of modules, and finds the ids that other texts have.
TEST(Json, AFrameHasItsLabelAndTheNameOfItsModule) {
  const Snapshot snapshot = representative_snapshot();
  const auto dump = nlohmann::json::parse(json_of(snapshot));
  int named = 0;
  for (std::size_t i = 0; i < snapshot.threads.size(); ++i) {
    const auto& thread = dump.at("threads")[i];
    EXPECT_EQ(thread.at("os_id_hex"), hex(snapshot.threads[i].os_id));
    for (std::size_t k = 0; k < thread.at("frames").size(); ++k) {
      const auto& frame = thread.at("frames")[k];
      const auto label = frame.at("label").get<std::string>();
      const bool was_utf8 = label.find("\uFFFD") == std::string::npos;
      if (was_utf8) {
        EXPECT_EQ(label, frame_label(snapshot, snapshot.threads[i].stack.frames[k]));
      }
      if (frame.at("kind") == "gap") continue;
      const auto& module = frame.at("module");
      EXPECT_EQ(frame.at("module_name"),
                module.is_null() ? module : dump.at("modules")[module.get<std::size_t>()].at("name"));
      named += module.is_null() ? 0 : 1;
    }
  }
  EXPECT_GT(named, 3);
}

TEST(Json, OfWhichMomentAThreadIs) {
  Snapshot snapshot = representative_snapshot();
  snapshot.moments = {{4'240'000}, {60'000}};
  snapshot.threads[1].moment = 2;
  const auto dump = nlohmann::json::parse(json_of(snapshot));
  EXPECT_EQ(dump.at("moments").size(), 2u);
  EXPECT_EQ(dump.at("moments")[0].at("stood_ns"), 4'240'000);
  EXPECT_TRUE(dump.at("threads")[0].at("moment").is_null());
  EXPECT_EQ(dump.at("threads")[1].at("moment"), 2);
}

TEST(Json, GuessedFramesAreCountedInTheirRun) {
  Snapshot snapshot = representative_snapshot();
  Frame& frame = snapshot.threads[0].stack.frames[4];
  frame.trust = Trust::frame_pointer;
  const auto json = nlohmann::json::parse(json_of(snapshot));
  const auto& thread = json.at("threads")[0];
  EXPECT_EQ(thread.at("whole"), false);
  EXPECT_EQ(thread.at("guessed"), true);
  EXPECT_EQ(thread.at("frames")[4].at("trust"), "frame-pointer");
  for (std::size_t i = 0; i < thread.at("runs").size(); ++i) {
    EXPECT_EQ(thread.at("runs")[i].value("guessed_frames", 0), i == 1 ? 1 : 0);
  }
  EXPECT_EQ(json.at("counters").at("guessed"), 1);
}

TEST(Json, ANameThatIsNoUtf8IsReplaced) {
  const auto dump = nlohmann::json::parse(json_of(representative_snapshot()));
  const std::string name = dump.at("threads").at(1).at("frames").at(2).at("name");
  EXPECT_NE(name.find("\xEF\xBF\xBD"), std::string::npos);
}

TEST(Json, IsPrintableAscii) {
  for (const char c : json_of(representative_snapshot())) {
    ASSERT_TRUE(c == '\n' || (c >= 0x20 && c <= 0x7E)) << static_cast<int>(c);
  }
}

TEST(Json, EveryWordOfTheTargetMayBeNoUtf8) {
  Snapshot snapshot = representative_snapshot();
  const std::string bad = "\xff\xc0\xed\xa0\x80";
  snapshot.process.path = snapshot.process.command_line = snapshot.runtime.name = bad;
  snapshot.modules[0].path = snapshot.threads[0].name = snapshot.threads[2].skipped = bad;
  EXPECT_TRUE(nlohmann::json::accept(json_of(snapshot)));
}

TEST(Json, SaysWhyAThreadWasSkippedAndTheRuntimeRefused) {
  const auto threads = nlohmann::json::parse(json_of(representative_snapshot())).at("threads");
  EXPECT_EQ(threads.at(0).at("refusal"), nullptr);
  EXPECT_EQ(threads.at(0).at("skipped"), nullptr);
  EXPECT_EQ(threads.at(1).at("refusal"), "0x80131360");
  EXPECT_EQ(threads.at(2).at("skipped"), "the thread is ending");
  EXPECT_EQ(threads.at(2).at("whole"), false);
}

TEST(Json, TheFilterIsPartOfTheDocument) {
  const auto dump = nlohmann::json::parse(
      json_of(representative_snapshot(), {.managed_only = true, .depth = 1}));
  EXPECT_EQ(dump.at("filter").at("managed_only"), true);
  EXPECT_EQ(dump.at("filter").at("depth"), 1);
  EXPECT_EQ(dump.at("filter").at("some_threads"), false);
  EXPECT_EQ(dump.at("threads").at(0).at("frames").size(), 1u);
  EXPECT_EQ(dump.at("threads").at(0).at("frames_left_out"), 6);
}

}  // namespace
}  // namespace mixwalk
