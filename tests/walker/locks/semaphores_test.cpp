#include "walker/locks/semaphores.h"

#include <gtest/gtest.h>

#include "tests/builders/fake_clr_questions.h"

namespace mixwalk {
namespace {

TEST(SemaphoresOfTasks, AreLocksWithoutOwner) {
  test::FakeClrQuestions clr;
  clr.locks_of[0x1000] = {.held = true, .semaphore = true};
  clr.locks_of[0x2000] = {.held = true, .semaphore = true};
  clr.locks_of[0x3000] = {.held = true};
  clr.locks_of[0x4000] = {.held = false, .semaphore = true};
  const std::string type = "System.Threading.SemaphoreSlim";
  Snapshot snapshot;
  const Lock known{.kind = LockKind::semaphore, .address = 0x1000, .type = type, .held = true, .waiters = {{7}}};
  const Lock native{.kind = LockKind::critical_section, .address = 0x9000};
  snapshot.locks = {known, native};
  for (const std::uint64_t object : {0x1000u, 0x2000u, 0x2000u, 0x3000u, 0x4000u, 0x5000u}) {
    snapshot.tasks.push_back({.object = object, .object_type = type});
  }
  snapshot.tasks.push_back({.object = 0x6000, .object_type = "System.Threading.Channels.Channel"});
  add_semaphores_of_tasks(snapshot, clr);
  const Lock entered{.kind = LockKind::semaphore, .address = 0x2000, .type = type, .held = true};
  const Lock free{.kind = LockKind::semaphore, .address = 0x4000, .type = type};
  EXPECT_EQ(snapshot.locks, (std::vector<Lock>{native, known, entered, free}));
}

}  // namespace
}  // namespace mixwalk
