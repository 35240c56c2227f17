#include "walker/otlp/batches.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>

#include "tests/builders/recordings.h"
#include "tests/support/remove_tree.h"

namespace mixwalk {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// A collector that gives the same answer to every request, once the test lets it answer.
class FakeCollector final : public HttpPost {
 public:
  explicit FakeCollector(int status) : status_(status) {}
  HttpAnswer post(std::string_view) override {
    ++posts;
    while (hangs) std::this_thread::sleep_for(1ms);
    return {.status = status_};
  }
  std::atomic<int> posts = 0;
  std::atomic<bool> hangs = false;

 private:
  const int status_;
};

class BatchesTest : public testing::Test {
 protected:
  BatchesTest() { EXPECT_TRUE(remove_tree(folder_)); }
  ~BatchesTest() override { EXPECT_TRUE(remove_tree(folder_)); }

  std::size_t kept() const { return Spool(folder_, url_).waiting().size(); }

  const fs::path folder_ = fs::path(testing::TempDir()) / "mixwalk_batches_test";
  const CollectorUrl url_{.host = "localhost"};
  const Recording recording_ = representative_recording();
  const OtlpSender::Options hasty_{.patience = 1ms};
};

TEST_F(BatchesTest, ARecordingIsSentWhileItGoesOn) {
  Spool spool(folder_, url_);
  FakeCollector collector(200);
  OtlpSender sender(spool, collector, hasty_);
  OtlpBatches batches(sender, 0ms);
  Recording growing = recording_;
  growing.samples.resize(10);
  batches.take(growing, 0);
  while (collector.posts == 0) std::this_thread::sleep_for(1ms);
  growing.samples = recording_.samples;
  batches.take(growing, 10);
  EXPECT_EQ(batches.finish(growing), 0u);
  const DeliveryReport report = sender.finish();
  EXPECT_EQ(report.delivered, 2u);
  EXPECT_EQ(report.waiting, 0u);
  EXPECT_TRUE(report.lines.empty());
}

TEST_F(BatchesTest, TheRestIsSentAtTheEnd) {
  Spool spool(folder_, url_);
  FakeCollector collector(200);
  OtlpSender sender(spool, collector, hasty_);
  OtlpBatches batches(sender, 1h);
  batches.take(recording_, 0);
  EXPECT_EQ(batches.finish(recording_), 0u);
  EXPECT_EQ(sender.finish().delivered, 1u);
  EXPECT_EQ(collector.posts, 1);
}

TEST_F(BatchesTest, NoSamplesNoRequest) {
  Spool spool(folder_, url_);
  FakeCollector collector(200);
  OtlpSender sender(spool, collector, hasty_);
  OtlpBatches batches(sender, 0ms);
  batches.take(Recording{}, 0);
  EXPECT_EQ(batches.finish(Recording{}), 0u);
  EXPECT_EQ(sender.finish().delivered, 0u);
  EXPECT_EQ(collector.posts, 0);
}

// While a post hangs, recording continues and its batches reach the disk.
TEST_F(BatchesTest, ACollectorThatHangsHoldsNothingUp) {
  Spool spool(folder_, url_);
  FakeCollector collector(503);
  collector.hangs = true;
  OtlpSender sender(spool, collector, hasty_);
  OtlpBatches batches(sender, 0ms);
  for (int i = 0; i < 6; ++i) {
    batches.take(recording_, 0);
    while (kept() < static_cast<std::size_t>(i) + 1) std::this_thread::sleep_for(1ms);
  }
  EXPECT_EQ(batches.finish(recording_), 0u);
  collector.hangs = false;
  const DeliveryReport report = sender.finish();
  EXPECT_EQ(report.waiting, 6u);
  EXPECT_EQ(report.why_waiting, "status 503");
  EXPECT_EQ(report.lost, 0u);
  EXPECT_EQ(kept(), 6u);
}

TEST_F(BatchesTest, AFullSpoolIsSaid) {
  Spool spool(folder_, url_, 0);
  FakeCollector collector(200);
  OtlpSender sender(spool, collector, hasty_);
  sender.offer(recording_);
  const DeliveryReport report = sender.finish();
  EXPECT_EQ(report.lost, 1u);
  EXPECT_EQ(collector.posts, 0);
  ASSERT_EQ(report.lines.size(), 1u);
  EXPECT_TRUE(report.lines[0].starts_with("cannot keep ")) << report.lines[0];
  EXPECT_TRUE(report.lines[0].ends_with("it is full (0 MiB)")) << report.lines[0];
}

TEST_F(BatchesTest, WhatAnEarlierRunLeftIsSentFirst) {
  {
    Spool spool(folder_, url_);
    FakeCollector collector(503);
    OtlpSender sender(spool, collector, hasty_);
    sender.offer(recording_);
    EXPECT_EQ(sender.finish().waiting, 1u);
  }
  Spool spool(folder_, url_);
  FakeCollector collector(200);
  OtlpSender sender(spool, collector, hasty_);
  EXPECT_EQ(sender.finish().delivered, 1u);
}

}  // namespace
}  // namespace mixwalk
