#include "unmanaged/step/native_run.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "unmanaged/step/module_view.h"

namespace mixwalk {
namespace {

// Steps through a list of (Rip, Rsp). At its end, a step is a fault.
class ListedCallers final : public UnwindStep {
 public:
  explicit ListedCallers(std::vector<std::pair<std::uint64_t, std::uint64_t>> callers)
      : callers_(std::move(callers)) {}
  StepResult step(Cursor& frame, LeafRule leaf) noexcept override {
    leaf_rules.push_back(leaf);
    if (next_ == callers_.size()) return {StepFault::no_unwind};
    frame.registers.rip = callers_[next_].first;
    frame.registers[Register::rsp] = callers_[next_++].second;
    frame.kind = AddressKind::return_address;
    return {StepFault::none, Trust::unwind_info};
  }
  std::vector<LeafRule> leaf_rules;

 private:
  std::vector<std::pair<std::uint64_t, std::uint64_t>> callers_;
  std::size_t next_ = 0;
};

Cursor start_at(std::uint64_t rip, std::uint64_t rsp) {
  Cursor cursor;
  cursor.registers.rip = rip;
  cursor.registers[Register::rsp] = rsp;
  return cursor;
}

struct Walk {
  RunResult result;
  std::array<RunFrame, 8> frames;
};

Walk walk(ListedCallers callers, RunBound bound) {
  Walk walk;
  walk.result = walk_native_run(start_at(1, 10), Trust::context, bound, callers, walk.frames);
  return walk;
}

TEST(NativeRun, EndsExactlyOnTheManagedFrame) {
  const Walk run = walk(ListedCallers({{2, 20}, {3, 30}}), {3, 30});
  EXPECT_EQ(run.result.end, RunEnd::closed);
  ASSERT_EQ(run.result.frames, 2u) << "the bound is no frame of the run";
  EXPECT_EQ(run.frames[0].trust, Trust::context);
  EXPECT_EQ(run.frames[1].address, 2u);
  EXPECT_EQ(run.frames[1].trust, Trust::unwind_info);
  EXPECT_EQ(run.result.next.registers.rip, 3u);
}

TEST(NativeRun, EmptyWhereTheStartIsTheBound) {
  const Walk run = walk(ListedCallers({}), {1, 10});
  EXPECT_EQ(run.result.end, RunEnd::closed);
  EXPECT_EQ(run.result.frames, 0u);
}

TEST(NativeRun, OtherRipOnTheBoundsRsp) {
  EXPECT_EQ(walk(ListedCallers({{2, 20}}), {99, 20}).result.end, RunEnd::closed_rsp);
}

TEST(NativeRun, PassesTheBound) {
  const Walk run = walk(ListedCallers({{2, 25}}), {3, 20});
  EXPECT_EQ(run.result.end, RunEnd::open);
  EXPECT_EQ(run.result.why, OpenReason::passed_bound);
  EXPECT_EQ(run.result.next.registers.rip, 1u) << "the frame that holds the bound's Rsp";
  EXPECT_EQ(run.result.frames, 1u);
}

TEST(NativeRun, RootWithAndWithoutABound) {
  EXPECT_EQ(walk(ListedCallers({{2, 20}, {0, 30}}), {}).result.end, RunEnd::root);
  const Walk run = walk(ListedCallers({{0, 20}}), {3, 30});
  EXPECT_EQ(run.result.end, RunEnd::open);
  EXPECT_EQ(run.result.why, OpenReason::ended_at_root);
}

TEST(NativeRun, FaultEndsItWithItsReason) {
  const Walk run = walk(ListedCallers({{2, 20}}), {});
  EXPECT_EQ(run.result.end, RunEnd::open);
  EXPECT_EQ(run.result.why, OpenReason::no_unwind);
  EXPECT_EQ(run.result.frames, 2u) << "what was found is kept";
}

TEST(NativeRun, MoreFramesThanTheBufferHolds) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> callers;
  for (std::uint64_t i = 0; i < 20; ++i) callers.emplace_back(i + 2, 20 + i);
  const Walk run = walk(ListedCallers(callers), {});
  EXPECT_EQ(run.result.why, OpenReason::frame_limit);
  EXPECT_EQ(run.result.frames, 8u);
}

TEST(NativeRun, OnlyTheTopMayBeALeaf) {
  ListedCallers callers({{2, 20}, {0, 30}});
  std::array<RunFrame, 8> frames;
  walk_native_run(start_at(1, 10), Trust::context, {}, callers, frames);
  EXPECT_EQ(callers.leaf_rules, (std::vector{LeafRule::allowed, LeafRule::forbidden}));
}

TEST(ModuleView, FindsTheImageThatCoversAnAddress) {
  const std::array<ModuleSpan, 2> spans = {ModuleSpan{.base = 0x1000, .size = 0x1000},
                                           ModuleSpan{.base = 0x5000, .size = 0x800}};
  const ModuleView view(spans);
  EXPECT_EQ(view.find(0xFFF), nullptr);
  EXPECT_EQ(view.find(0x1000), &spans[0]);
  EXPECT_EQ(view.find(0x1FFF), &spans[0]);
  EXPECT_EQ(view.find(0x2000), nullptr);
  EXPECT_EQ(view.find(0x57FF), &spans[1]);
  EXPECT_EQ(view.find(~0ull), nullptr);
  EXPECT_EQ(ModuleView().find(0x1000), nullptr);
}

}  // namespace
}  // namespace mixwalk
