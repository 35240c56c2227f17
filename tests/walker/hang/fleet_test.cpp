#include "walker/hang/fleet.h"

#include <gtest/gtest.h>

#include "tests/builders/hang_samples.h"
#include "walker/base/byte_sink.h"
#include "walker/export/findings_json.h"
#include "walker/export/findings_text.h"

namespace mixwalk {
namespace {

// Machines of one service: two have a deadlock, one has no trouble.
std::vector<Snapshot> machines() {
  std::vector<Snapshot> dumps = {test::deadlocked_program()[0], test::deadlocked_program()[0],
                                 test::healthy_program()[0]};
  for (std::uint32_t i = 0; i < dumps.size(); ++i) dumps[i].process.id = 100 + i;
  return dumps;
}

TEST(FleetTest, WhatOnlyTheSickHaveComesFirst) {
  const std::vector<Snapshot> dumps = machines();
  const Fleet fleet = find_fleet(dumps, find_hangs(dumps, {}));
  EXPECT_EQ(fleet.in_trouble, (std::vector<bool>{true, true, false}));
  ASSERT_GE(fleet.groups.size(), 4u);
  EXPECT_TRUE(fleet.groups[0].only_in_trouble);
  EXPECT_EQ(fleet.groups[0].counts, (std::vector<std::uint32_t>{3, 3, 0}));  // the requests
  EXPECT_EQ(fleet.groups[0].processes, 2u);
}

TEST(FleetTest, WhatAllHaveIsNoSignOfTrouble) {
  const std::vector<Snapshot> dumps = machines();
  const Fleet fleet = find_fleet(dumps, find_hangs(dumps, {}));
  const auto common = std::ranges::find(fleet.groups, 3u, &FleetGroup::processes);
  ASSERT_NE(common, fleet.groups.end());  // the console's reader
  EXPECT_FALSE(common->only_in_trouble);
}

TEST(FleetTest, WhereAllAreSickNothingIsOnlyTheirs) {
  std::vector<Snapshot> dumps = machines();
  dumps.pop_back();
  for (const FleetGroup& group : find_fleet(dumps, find_hangs(dumps, {})).groups) EXPECT_FALSE(group.only_in_trouble);
}

TEST(FleetTest, TextAndJsonSayIt) {
  const std::vector<Snapshot> dumps = machines();
  const Findings findings = find_hangs(dumps, {});
  const Fleet fleet = find_fleet(dumps, findings);
  StringSink text, json;
  write_findings_text(dumps, findings, {.fleet = &fleet}, text);
  EXPECT_NE(text.text.find("3 processes, 2 in trouble."), std::string::npos) << text.text;
  EXPECT_NE(text.text.find("1. Deadlock of 2 threads  in process 100, \n"), std::string::npos) << text.text;
  EXPECT_NE(text.text.find("2. Deadlock of 2 threads  in process 101, \n"), std::string::npos) << text.text;
  EXPECT_NE(text.text.find("2 of 3: waits to enter a monitor (lock). Only in those in trouble\n"
                           "          threads of each: 3 3 0\n          at Orders.Web.Submit(string)\n"),
            std::string::npos)
      << text.text;
  write_findings_json(dumps, findings, "0.0.0", json, &fleet);
  EXPECT_NE(json.text.find("\"across\":{\"sick\":[true,true,false],\"common\":[{"), std::string::npos);
}

TEST(FleetTest, NoDumps) { EXPECT_TRUE(find_fleet({}, find_hangs({}, {})).groups.empty()); }

}  // namespace
}  // namespace mixwalk
