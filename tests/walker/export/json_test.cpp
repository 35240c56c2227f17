#include "walker/export/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/golden.h"
#include "tests/support/snapshot_builder.h"

namespace mixwalk {
namespace {

std::string json_of(const Snapshot& snapshot, const FrameFilter& filter = {}) {
  StringSink sink;
  EXPECT_TRUE(JsonExporter(filter).write(snapshot, sink));
  return sink.text;
}

TEST(Json, OneOfEverything) { expect_golden("dump.json", json_of(representative_snapshot())); }

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

TEST(Json, ANameThatIsNoUtf8IsReplaced) {
  const auto dump = nlohmann::json::parse(json_of(representative_snapshot()));
  const std::string name = dump.at("threads").at(1).at("frames").at(2).at("name");
  EXPECT_NE(name.find("\xEF\xBF\xBD"), std::string::npos);
}

TEST(Json, TheFilterIsPartOfTheDocument) {
  const auto dump = nlohmann::json::parse(
      json_of(representative_snapshot(), {.managed_only = true, .depth = 1}));
  EXPECT_EQ(dump.at("filter").at("managed_only"), true);
  EXPECT_EQ(dump.at("filter").at("depth"), 1);
  EXPECT_EQ(dump.at("threads").at(0).at("frames").size(), 1u);
  EXPECT_EQ(dump.at("threads").at(0).at("frames_left_out"), 6);
}

}  // namespace
}  // namespace mixwalk
