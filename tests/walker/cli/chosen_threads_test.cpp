#include "walker/cli/chosen_threads.h"

#include <gtest/gtest.h>

#include "tests/builders/hang_builder.h"

namespace mixwalk {
namespace {

Snapshot three_threads() {
  test::HangBuilder builder;
  builder.thread(0x10, test::managed_thread({"M Orders.Work()"}), "mainframe");
  builder.thread(0x14, test::main_thread({"M Orders.Run()"}), "orders");
  builder.thread(0x18, test::native_thread({"ntdll!NtWaitForSingleObject"}));
  return builder.snapshot();
}

std::vector<std::uint32_t> kept(const ThreadSelection& chosen, UnmatchedThreads& unmatched) {
  Snapshot snapshot = three_threads();
  keep_chosen_threads(snapshot, chosen, unmatched);
  EXPECT_EQ(snapshot.omissions.threads, !chosen.empty());
  std::vector<std::uint32_t> ids;
  for (const Thread& thread : snapshot.threads) ids.push_back(thread.os_id);
  return ids;
}

TEST(ChosenThreads, TheMainThreadByItsRole) {
  using Ids = std::vector<std::uint32_t>;
  const ThreadSelection main{.ids = {}, .names = {"main"}}, other{.ids = {0x18}, .names = {"ord", "no"}};
  UnmatchedThreads of_main(main), of_other(other), of_all({});
  EXPECT_EQ(kept(main, of_main), (Ids{0x10, 0x14}));  // a name that begins with the word is meant too
  EXPECT_TRUE(of_main.empty());
  EXPECT_EQ(kept(other, of_other), (Ids{0x14, 0x18}));
  EXPECT_EQ(of_other.text(), "thread whose name begins with \"no\"");
  EXPECT_EQ(kept({}, of_all), (Ids{0x10, 0x14, 0x18}));
}

}  // namespace
}  // namespace mixwalk
