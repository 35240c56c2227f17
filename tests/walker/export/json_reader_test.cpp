#include "walker/export/json_reader.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/builders/hang_samples.h"
#include "tests/builders/snapshot_builder.h"
#include "tests/support/golden.h"
#include "walker/export/json.h"

namespace mixwalk {
namespace {

std::string written(const Snapshot& snapshot) {
  StringSink sink;
  EXPECT_TRUE(write_json(snapshot, {}, sink));
  return sink.text;
}

nlohmann::json document() { return nlohmann::json::parse(written(checked_snapshot())); }

std::string error_of(const nlohmann::json& json) { return read_json_dump(json.dump()).error; }

TEST(JsonReaderTest, WhatWasWrittenIsWrittenAgain) {
  Snapshot fail_fast = test::crashed_program();
  fail_fast.crash->text = "the books do not balance";
  fail_fast.answers = {RuntimeSource::debugging_library, "the runtime does not describe its data"};
  for (const Snapshot& snapshot :
       {representative_snapshot(), checked_snapshot(), test::crashed_program(), fail_fast}) {
    const ReadJsonDump read = read_json_dump(written(snapshot));
    ASSERT_TRUE(read.snapshot) << read.error;
    auto expected = nlohmann::json::parse(written(snapshot)), actual = nlohmann::json::parse(written(*read.snapshot));
    for (auto* const json : {&expected, &actual}) {
      // The reader does not read which builds the images are.
      for (auto& module : (*json)["modules"]) {
        for (const char* const name : {"pdb", "pdb_id", "build_id"}) module.erase(name);
      }
      // The field is not written again if the reader reports none.
      json->erase("locks_missing");
      json->erase("locks");
      // The counters are those of all frames, which are not in the document.
      json->erase("counters");
    }
    EXPECT_EQ(actual, expected);
  }
}

TEST(JsonReaderTest, AsynchronousWork) {
  Snapshot snapshot = representative_snapshot();
  add_async_work(snapshot);
  const ReadJsonDump read = read_json_dump(written(snapshot));
  ASSERT_TRUE(read.snapshot) << read.error;
  EXPECT_EQ(read.snapshot->tasks, snapshot.tasks);
  EXPECT_EQ(read.snapshot->contexts, snapshot.contexts);
  EXPECT_EQ(read.snapshot->pool, snapshot.pool);
  EXPECT_EQ(read.snapshot->tasks_missing, snapshot.tasks_missing);
  EXPECT_EQ(read.snapshot->locks, snapshot.locks);
  for (std::size_t i = 0; i < snapshot.threads.size(); ++i) {
    EXPECT_EQ(read.snapshot->threads[i].waits_for_task, snapshot.threads[i].waits_for_task);
    EXPECT_EQ(read.snapshot->threads[i].queue_position, snapshot.threads[i].queue_position);
    EXPECT_EQ(read.snapshot->threads[i].traits, snapshot.threads[i].traits);
  }
}

TEST(JsonReaderTest, TasksThatAreNotThere) {
  const auto changed = [](const char* pointer, const nlohmann::json& value) {
    auto json = document();
    json[nlohmann::json::json_pointer(pointer)] = value;
    return error_of(json);
  };
  const auto tasks = document().at("tasks").size();
  EXPECT_EQ(changed("/tasks/2/awaits/0", tasks), "\"awaits\" is no array of indices of entries that are there");
  EXPECT_EQ(changed("/tasks/2/awaits", {"all"}), "\"awaits\" is no array of numbers that they can be");
  EXPECT_EQ(changed("/tasks/2/awaits", 7), "\"awaits\" is no array");
  EXPECT_EQ(changed("/tasks/1/continues_on", 1), "\"continues_on\" is no index of an entry that is there");
  EXPECT_EQ(changed("/threads/0/waits_for_task", tasks), "\"waits_for_task\" is no index of an entry that is there");
  EXPECT_EQ(changed("/thread_pool/items/0/task", tasks), "\"task\" is no index of an entry that is there");
  EXPECT_EQ(changed("/locks/5/task_holders/0", tasks),
            "\"task_holders\" is no array of indices of entries that are there");
  EXPECT_EQ(changed("/threads/0/traits", "main"), "\"traits\" is no array");
  EXPECT_EQ(changed("/threads/0/traits", {"main", "new"}), "");
  EXPECT_EQ(changed("/tasks/0/kind", "a new kind"), "");
}

TEST(JsonReaderTest, TheUrlOfASourceFile) {
  Snapshot snapshot = representative_snapshot();
  snapshot.threads[0].stack.frames[0].source_url = "https://example.org/Client.cs";
  const ReadJsonDump read = read_json_dump(written(snapshot));
  ASSERT_TRUE(read.snapshot) << read.error;
  EXPECT_EQ(read.snapshot->threads[0].stack.frames[0].source_url, "https://example.org/Client.cs");
  // Other formats make links of it.
  snapshot.threads[0].stack.frames[0].source_url = "javascript:alert(1)";
  const ReadJsonDump other = read_json_dump(written(snapshot));
  ASSERT_TRUE(other.snapshot) << other.error;
  EXPECT_EQ(other.snapshot->threads[0].stack.frames[0].source_url, "");
}

TEST(JsonReaderTest, ADocumentOfAnOlderMixwalkHasNoLocks) {
  auto json = document();
  json.erase("locks");
  const ReadJsonDump read = read_json_dump(json.dump());
  ASSERT_TRUE(read.snapshot) << read.error;
  EXPECT_FALSE(read.snapshot->locks_missing.empty());
}

TEST(JsonReaderTest, WhatWasLeftOut) {
  const auto left_out = [](const FrameFilter& filter, bool some_threads = false) {
    StringSink sink;
    Snapshot snapshot = checked_snapshot();
    snapshot.omissions.threads = some_threads;
    EXPECT_TRUE(write_json(snapshot, filter, sink));
    return read_json_dump(sink.text).snapshot.value_or(Snapshot()).omissions;
  };
  EXPECT_EQ(left_out({}), Omissions());
  EXPECT_EQ(left_out({.managed_only = true}), Omissions{.native_frames = true});
  EXPECT_EQ(left_out({.depth = 3}, true), (Omissions{.frames_beyond = 3, .threads = true}));
  auto older = document();
  older.erase("filter");
  EXPECT_EQ(read_json_dump(older.dump()).snapshot.value_or(Snapshot()).omissions, Omissions());
}

TEST(JsonReaderTest, LocksTimesAndAges) {
  auto json = document();
  json["locks"] = nlohmann::json::parse(
      R"([{"kind":"critical-section","address":"0x1f40","type":null,"held":true,"owner":420,"recursion":2,
           "waiters":[{"os_id":424,"pulse":true}]}])");
  json["threads"][0]["cpu_ns"] = 1500;
  json["threads"][0]["created_unix_ms"] = 1;
  const ReadJsonDump read = read_json_dump(json.dump());
  ASSERT_TRUE(read.snapshot) << read.error;
  ASSERT_EQ(read.snapshot->locks.size(), 1u);
  EXPECT_EQ(read.snapshot->locks[0],
            (Lock{LockKind::critical_section, 0x1f40, "", 420, true, 2, {{424, true}}}));
  EXPECT_EQ(read.snapshot->threads[0].cpu, 15u);
  EXPECT_EQ(read.snapshot->threads[0].created, 116'444'736'000'010'000u);
}

TEST(JsonReaderTest, FieldsAndWordsThatAreNotKnown) {
  auto json = document();
  json["new"] = {{"deep", {1, 2, 3}}};
  json["threads"][0]["frames"][0]["trust"] = "a new way";
  EXPECT_TRUE(read_json_dump(json.dump()).snapshot);
}

TEST(JsonReaderTest, DocumentsThatAreNone) {
  EXPECT_EQ(read_json_dump("").error, "it is no JSON, or was cut off");
  EXPECT_EQ(read_json_dump("{").error, "it is no JSON, or was cut off");
  EXPECT_EQ(read_json_dump("{}").error, "it is JSON, but no dump of mixwalk (dump -f json)");
  EXPECT_EQ(read_json_dump("[]").error, "it is JSON, but no dump of mixwalk (dump -f json)");
  const std::string whole = written(representative_snapshot());
  for (std::size_t length = 0; length + 2 < whole.size(); length += 97) {
    EXPECT_FALSE(read_json_dump(whole.substr(0, length)).snapshot);
  }
}

TEST(JsonReaderTest, AVersionThatIsNotKnown) {
  auto json = document();
  json["version"] = 2;
  EXPECT_EQ(error_of(json), "a later version of mixwalk wrote it: read it with that version");
}

TEST(JsonReaderTest, Contradictions) {
  auto json = document();
  json["threads"][0]["frames"][0]["module"] = 2;
  EXPECT_EQ(error_of(json), "\"module\" is no index of an entry that is there");
  json = document();
  json["threads"][0]["frames"][0]["run"] = 99;
  EXPECT_EQ(error_of(json), "\"run\" is no index of an entry that is there");
  json = document();
  json["threads"][0]["frames"][0]["module"] = -1;
  EXPECT_EQ(error_of(json), "\"module\" is no number that it can be");
  json = document();
  json["threads"][0]["os_id"] = 1ull << 40;
  EXPECT_EQ(error_of(json), "\"os_id\" is no number that it can be");
  json = document();
  json["threads"][0]["moment"] = 1;
  EXPECT_EQ(error_of(json), "\"moment\" is no moment that is there");
  json = document();
  json["threads"] = 5;
  EXPECT_EQ(error_of(json), "\"threads\" is no array");
  json = document();
  json["threads"][0] = "x";
  EXPECT_EQ(error_of(json), "\"threads\" is no array of objects");
  json = document();
  json["modules"][0]["base"] = "0x1'000";
  EXPECT_EQ(error_of(json), "\"base\" is no hexadecimal number");
}

TEST(JsonReaderTest, NestingIsBounded) {
  EXPECT_EQ(read_json_dump(std::string(10'000'000, '[')).error, "it is JSON that nests too deep");
  std::string text = R"({"format":"mixwalk-dump","version":1,"x":"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"[[["})";
  EXPECT_TRUE(read_json_dump(text).snapshot) << read_json_dump(text).error;
}

TEST(JsonReaderTest, ExceptionsThatAThreadHandles) {
  const Snapshot snapshot = checked_snapshot();
  ASSERT_FALSE(snapshot.threads[0].handles.empty());
  const ReadJsonDump read = read_json_dump(written(snapshot));
  ASSERT_TRUE(read.snapshot) << read.error;
  EXPECT_EQ(read.snapshot->threads[0].handles, snapshot.threads[0].handles);
  EXPECT_TRUE(read.snapshot->threads[1].handles.empty());
  auto json = document();
  json["threads"][0]["handles"][0]["objects"] = 5;
  EXPECT_EQ(error_of(json), "\"objects\" is no array");
  json["threads"][0]["handles"] = {5};
  EXPECT_EQ(error_of(json), "\"handles\" is no array of objects");
}

TEST(JsonReaderTest, CrashesThatAreNone) {
  auto json = nlohmann::json::parse(written(test::crashed_program()));
  json["crash"]["objects"][0]["trace"] = {1};
  EXPECT_EQ(error_of(json), "\"trace\" is no array of texts");
  json["crash"]["objects"][0]["trace"] = nlohmann::json::array();
  for (int i = 0; i < 100; ++i) json["crash"]["objects"].push_back(json["crash"]["objects"][0]);
  EXPECT_EQ(read_json_dump(json.dump()).snapshot->crash->objects.size(), kMaxCrashObjects);
  json["crash"] = 5;
  EXPECT_EQ(error_of(json), "\"crash\" is no object");
  json.erase("crash");
  EXPECT_FALSE(read_json_dump(json.dump()).snapshot->crash);
}

}  // namespace
}  // namespace mixwalk
