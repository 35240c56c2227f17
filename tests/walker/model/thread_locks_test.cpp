#include "walker/model/thread_locks.h"

#include <gtest/gtest.h>

#include "tests/builders/snapshot_builder.h"

namespace mixwalk {
namespace {

TEST(ThreadLocks, WhatAThreadHolds) {
  const Snapshot snapshot = representative_snapshot();
  EXPECT_EQ(locks_held_by(snapshot, 0x1a4), std::vector<const Lock*>{&snapshot.locks[0]});
  EXPECT_EQ(locks_held_by(snapshot, 0x1a8), (std::vector<const Lock*>{&snapshot.locks[1], &snapshot.locks[3]}));
  EXPECT_TRUE(locks_held_by(snapshot, 0x1b0).empty());
  EXPECT_TRUE(locks_held_by(snapshot, 0).empty());  // no owner, or an unknown one
}

TEST(ThreadLocks, WhatAThreadWaitsFor) {
  const Snapshot snapshot = representative_snapshot();
  EXPECT_EQ(lock_waited_for_by(snapshot, 0x1a8).lock, &snapshot.locks[0]);
  EXPECT_FALSE(lock_waited_for_by(snapshot, 0x1a8).pulse);
  EXPECT_EQ(lock_waited_for_by(snapshot, 0x1ac).lock, &snapshot.locks[1]);
  EXPECT_TRUE(lock_waited_for_by(snapshot, 0x1ac).pulse);
  EXPECT_EQ(lock_waited_for_by(snapshot, 0x999).lock, nullptr);
}

}  // namespace
}  // namespace mixwalk
