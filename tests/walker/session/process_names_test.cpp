#include "walker/session/process_names.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

const std::vector<ProcessEntry> kProcesses = {{4, "System"},         {412, "orders.exe"},
                                              {500, "payments.exe"}, {504, "Payments.exe"},
                                              {600, "Grüße.exe"},    {700, "shipping.service.exe"}};

std::string refusal_of(const std::string& name, ExitCode code) {
  const auto found = process_named(kProcesses, name);
  if (found) return "found";
  EXPECT_EQ(found.failure().code, code);
  return found.failure().message;
}

TEST(ProcessNamed, ByTheNameOfItsImageInAnySpelling) {
  for (const std::string name : {"orders", "orders.exe", "ORDERS.EXE", "C:\\apps\\orders.exe"}) {
    const auto found = process_named(kProcesses, name);
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(*found, 412u);
  }
  EXPECT_EQ(*process_named(kProcesses, "Grüße"), 600u);
}

TEST(ProcessNamed, SeveralOfThatNameAreListed) {
  EXPECT_EQ(refusal_of("payments", ExitCode::ambiguous),
            "2 processes are named \"payments\" (500, 504): choose one with --process-id");
  const std::vector<ProcessEntry> many(9, {7, "a.exe"});
  EXPECT_NE(process_named(many, "a").failure().message.find("9 processes are named \"a\" (7, 7, 7, 7, 7, 7, 7, 7, …)"),
            std::string::npos);
}

TEST(ProcessNamed, SaysWhatWasPresumablyMeant) {
  EXPECT_EQ(refusal_of("ordres", ExitCode::no_process),
            "no process named \"ordres\": did you mean orders? mixwalk ps lists the .NET processes");
  EXPECT_EQ(refusal_of("Shipping", ExitCode::no_process),
            "no process named \"Shipping\": did you mean shipping.service? mixwalk ps lists the .NET processes");
  EXPECT_EQ(refusal_of("412", ExitCode::no_process), "no process named \"412\": did you mean -p 412?");
  EXPECT_EQ(refusal_of("invoices", ExitCode::no_process),
            "no process named \"invoices\": mixwalk ps lists the .NET processes");
}

TEST(ProcessNamed, AnUnknownIdNamesTheList) {
  EXPECT_EQ(no_process_with(412).message, "no process with id 412: mixwalk ps lists the .NET processes");
  EXPECT_EQ(no_process_with(412).code, ExitCode::no_process);
}

}  // namespace
}  // namespace mixwalk
