#include "walker/session/recording_pieces.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "tests/builders/snapshot_builder.h"
#include "tests/support/full_sink.h"
#include "walker/model/series.h"
#include "walker/store/recording_reader.h"

namespace mixwalk {
namespace {

// Keeps files in memory.
class Shelf {
 public:
  RecordingPieces::Open open() {
    return [this](int piece) -> std::unique_ptr<ByteSink> {
      EXPECT_EQ(piece, static_cast<int>(files_.size()) + 1);
      files_.push_back(std::make_unique<std::string>());
      return std::make_unique<Sink>(*files_.back());
    };
  }
  std::vector<Recording> read() const {
    std::vector<Recording> all;
    for (const auto& file : files_) {
      ReadRecording read = read_recording(*file);
      EXPECT_TRUE(read.recording) << read.error;
      EXPECT_EQ(read.cut.kind, Cut::Kind::none);
      if (read.recording) all.push_back(std::move(*read.recording));
    }
    return all;
  }

 private:
  class Sink final : public ByteSink {
   public:
    explicit Sink(std::string& file) : file_(file) {}
    bool write(std::string_view bytes) override {
      file_ += bytes;
      return true;
    }

   private:
    std::string& file_;
  };
  std::vector<std::unique_ptr<std::string>> files_;
};

// A target that records the stacks of a snapshot at 100 Hz, in files of its own, with a chunk every 100 ms.
class Target {
 public:
  static constexpr std::uint64_t kTickNs = 10'000'000;
  static constexpr std::size_t kThreads = 20;

  Target() { begin_file(); }

  std::string chunk() {
    for (int tick = 0; tick < 10; ++tick, now_ns_ += kTickNs) {
      for (std::uint32_t i = 0; i < kThreads; ++i) {
        recording_.samples.push_back(
            {.time_ns = now_ns_,
             .value = kTickNs,
             .thread = i % static_cast<std::uint32_t>(recording_.threads.size()),
             .stack = i % static_cast<std::uint32_t>(recording_.nodes.size())});
      }
    }
    sent_ += recording_.samples.size();
    recording_.duration_ns = now_ns_ - kTickNs;
    writer_->append(recording_);
    recording_.samples.clear();
    writer_->samples_cleared();
    return std::exchange(sink_.text, {});
  }
  void begin_file() {
    dropped_before_ += recording_.dropped;
    recording_ = to_recording(representative_snapshot());
    recording_.event = SampleEvent::wall;
    recording_.samples.clear();
    recording_.unix_time_ms = 1'000'000;
    writer_.emplace(sink_);
    writer_->begin(recording_);
  }
  // Adds a thread that has not been recorded before.
  void meet_a_thread() { recording_.threads.push_back({.os_id = ++last_id_}); }
  void drop(std::uint64_t samples) { recording_.dropped += samples; }
  std::uint64_t sent() const { return sent_; }
  std::uint64_t dropped() const { return dropped_before_ + recording_.dropped; }

 private:
  Recording recording_;
  StringSink sink_;
  std::optional<RecordingWriter> writer_;
  std::uint64_t now_ns_ = 0, sent_ = 0, dropped_before_ = 0;
  std::uint32_t last_id_ = 1'000'000;
};

std::vector<Frame> no_names(Frame frame, const Module&) { return {std::move(frame)}; }

std::uint64_t samples_in(const std::vector<Recording>& pieces) {
  std::uint64_t samples = 0;
  for (const Recording& piece : pieces) samples += piece.samples.size();
  return samples;
}

TEST(RecordingPieces, AShortRecordingIsOneFile) {
  Shelf shelf;
  RecordingCollector collector(no_names);
  RecordingPieces pieces(collector, shelf.open(), "1.2");
  Target target;
  EXPECT_EQ(collector.add(target.chunk(), true), "");
  EXPECT_TRUE(pieces.take());
  EXPECT_FALSE(pieces.is_full());
  EXPECT_TRUE(pieces.end());
  const auto all = shelf.read();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].samples.size(), target.sent());
  EXPECT_EQ(all[0].tool_version, "1.2");
}

TEST(RecordingPieces, EachPieceIsARecordingOfItsTime) {
  Shelf shelf;
  RecordingCollector collector(no_names);
  RecordingPieces pieces(collector, shelf.open(), "1.2", {.samples = 1'000});
  Target target;
  for (int i = 0; i < 20; ++i) {
    target.drop(1);
    EXPECT_EQ(collector.add(target.chunk(), i == 0), "");
    ASSERT_TRUE(pieces.take());
    if (pieces.is_full()) {
      ASSERT_TRUE(pieces.cut());
    }
  }
  EXPECT_TRUE(pieces.end());
  const auto all = shelf.read();
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(samples_in(all), target.sent());
  std::uint64_t dropped = 0;
  for (const Recording& piece : all) {
    dropped += piece.dropped;
    EXPECT_EQ(piece.process.id, all[0].process.id);
    EXPECT_EQ(piece.frames, all[0].frames);
    // There are five chunks of 100 ms, each of which begins where the one before ended.
    EXPECT_LT(piece.samples.front().time_ns, 11'000'000u);
    EXPECT_GT(piece.samples.back().time_ns, 480'000'000u);
    EXPECT_LT(piece.samples.back().time_ns, 520'000'000u);
  }
  EXPECT_EQ(dropped, target.dropped());
  EXPECT_EQ(collector.dropped(), target.dropped());
  EXPECT_EQ(all[0].unix_time_ms, 1'000'000u);
  EXPECT_EQ(all[3].unix_time_ms, 1'000'000u + 3 * 500 - 10);
}

TEST(RecordingPieces, ATableThatGrowsBeginsAPiece) {
  Shelf shelf;
  RecordingCollector collector(no_names);
  RecordingPieces pieces(collector, shelf.open(), "1.2", {.others = 100});
  Target target;
  for (int i = 0; i < 500; ++i) {
    // As a real target does, it begins a new file when its tables have grown.
    if (i % 40 == 39) target.begin_file();
    target.meet_a_thread();
    ASSERT_EQ(collector.add(target.chunk(), i == 0 || i % 40 == 39), "");
    ASSERT_TRUE(pieces.take());
    EXPECT_LE(collector.recording().threads.size(), 100u);
    if (pieces.is_full()) {
      ASSERT_TRUE(pieces.cut());
    }
  }
  EXPECT_TRUE(pieces.end());
  const auto all = shelf.read();
  EXPECT_GE(all.size(), 5u);
  EXPECT_EQ(samples_in(all), target.sent());
}

TEST(RecordingPieces, AFileThatCannotBeOpened) {
  RecordingCollector collector(no_names);
  RecordingPieces pieces(collector, [](int) { return nullptr; }, "1.2");
  Target target;
  EXPECT_EQ(collector.add(target.chunk(), true), "");
  EXPECT_FALSE(pieces.take());
}

// Only counts the bytes, because in this test nothing else would grow but the files of a day.
class CountingSink final : public ByteSink {
 public:
  explicit CountingSink(std::uint64_t& bytes) : bytes_(bytes) {}
  bool write(std::string_view bytes) override {
    bytes_ += bytes.size();
    return true;
  }

 private:
  std::uint64_t& bytes_;
};

// A day has 172,800,000 samples of 20 threads. The test takes a hundredth of a day, in pieces of a hundredth of the
// usual size, unless MIXWALK_DAY_PERCENT requests more; `/usr/bin/time -v` shows how much memory it takes.
TEST(RecordingPieces, ADayKeepsNothing) {
  const char* wanted = std::getenv("MIXWALK_DAY_PERCENT");
  const auto percent = wanted == nullptr ? 1ul : std::strtoul(wanted, nullptr, 10);
  std::uint64_t bytes = 0;
  int files = 0;
  RecordingCollector collector(no_names);
  const PieceLimits whole;
  const PieceLimits limits{.samples = whole.samples * percent / 100};
  RecordingPieces pieces(
      collector,
      [&](int) {
        ++files;
        return std::make_unique<CountingSink>(bytes);
      },
      "1.2", limits);
  Target target;
  std::uint64_t taken = 0;
  std::size_t most = 0;
  const std::uint64_t chunks = 24ull * 3600 * 10 * percent / 100;
  for (std::uint64_t i = 0; i < chunks; ++i) {
    // The target begins a file after 2^24 samples.
    const bool new_file = i % 80'000 == 0;
    if (new_file && i != 0) target.begin_file();
    ASSERT_EQ(collector.add(target.chunk(), new_file), "");
    taken += collector.recording().samples.size();
    ASSERT_TRUE(pieces.take());
    most = std::max(most, collector.recording().samples.capacity());
    if (pieces.is_full()) {
      ASSERT_TRUE(pieces.cut());
    }
  }
  EXPECT_TRUE(pieces.end());
  EXPECT_EQ(taken, target.sent());
  EXPECT_EQ(target.sent(), 2'000u * 10 * chunks / 100);
  EXPECT_LE(most, 1'000u) << "samples kept";
  EXPECT_EQ(files, 6);
  EXPECT_GT(bytes, target.sent());
}

}  // namespace
}  // namespace mixwalk
