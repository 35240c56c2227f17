#include "walker/cli/output/doctor_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/support/golden.h"
#include "walker/base/version.h"

namespace mixwalk {
namespace {

using Json = nlohmann::json;
using State = DoctorLine::State;

DoctorReport one_of_each() {
  return {.process_id = 4711,
          .lines = {{.check = "system", .found = "Windows 10.0.19045"},
                    {.state = State::note, .check = "symbol path", .found = "none", .advice = "name one"},
                    {.state = State::bad, .check = "process", .found = "no access", .code = ExitCode::no_access},
                    {.state = State::bad, .check = "trial", .found = "refused", .code = ExitCode::refused}},
          .trial = DoctorTrial{.dumps = 20, .stacks = 100, .whole = 99, .frozen = {1000, 2000, 3000}}};
}

TEST(DoctorReport, EachThingIsOneLineWithItsAdvice) {
  EXPECT_EQ(doctor_text(one_of_each()),
            "good  system       Windows 10.0.19045\n"
            "note  symbol path  none: name one\n"
            "bad   process      no access\n"
            "bad   trial        refused\n");
}

TEST(DoctorReport, WhatComesFromElsewhereStaysOnItsLine) {
  const std::string text = doctor_text({.lines = {{.check = "other software", .found = "C:\\a\nb\x1b[31m.dll"}}});
  EXPECT_EQ(std::ranges::count(text, '\n'), 1);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(DoctorReport, ItsCodeIsThatOfTheFirstThingThatDoesNotWork) {
  const auto failure = failure_of(one_of_each());
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code, ExitCode::no_access);
  EXPECT_FALSE(failure_of({.lines = {{.state = State::note}}}));
}

TEST(DoctorReport, TheSameForMachines) {
  const Json json = Json::parse(doctor_json(one_of_each()));
  EXPECT_EQ(json.at("format"), "mixwalk-doctor");
  EXPECT_EQ(json.at("tool_version"), kVersion);
  EXPECT_EQ(json.at("process_id"), 4711);
  ASSERT_EQ(json.at("lines").size(), 4u);
  EXPECT_EQ(json.at("lines").at(1), Json::parse(R"({"state":"note","check":"symbol path","found":"none",
                                                    "advice":"name one","exit_code":0})"));
  EXPECT_TRUE(json.at("lines").at(0).at("advice").is_null());
  EXPECT_EQ(json.at("lines").at(2).at("exit_code"), 7);
  EXPECT_EQ(json.at("trial"), Json::parse(R"({"dumps":20,"stacks":100,"whole":99,"resumed":0,
                                              "frozen_ns":{"p50":1000,"p99":2000,"max":3000}})"));
  const Json alone = Json::parse(doctor_json({}));
  EXPECT_TRUE(alone.at("trial").is_null());
  EXPECT_TRUE(alone.at("process_id").is_null());
}

TEST(DoctorReport, ItsDocumentNamesEveryField) {
  const std::string document = file_text(repository_file("docs/doctor.md"));
  const auto expect_named = [&](const Json& object) {
    for (const auto& [key, value] : object.items()) {
      EXPECT_NE(document.find('`' + key + '`'), std::string::npos) << key;
    }
  };
  const Json json = Json::parse(doctor_json(one_of_each()));
  expect_named(json);
  expect_named(json.at("lines").at(0));
  expect_named(json.at("trial"));
}

}  // namespace
}  // namespace mixwalk
