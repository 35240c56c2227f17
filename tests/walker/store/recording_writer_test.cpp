#include "walker/store/recording_writer.h"

#include <gtest/gtest.h>

#include "tests/builders/hang_samples.h"
#include "tests/builders/recordings.h"
#include "tests/builders/snapshot_builder.h"
#include "tests/support/golden.h"
#include "tests/walker/store/wall_recording.h"
#include "walker/model/recording_builder.h"
#include "walker/model/series.h"
#include "walker/store/layout.h"
#include "walker/store/recording_reader.h"
#include "walker/store/recording_writer.h"

namespace mixwalk {
namespace {

std::string bytes_of(const Recording& recording) {
  StringSink sink;
  EXPECT_TRUE(write_store(recording, sink));
  return sink.text;
}

void expect_reads_as(const std::string& bytes, const Recording& expected) {
  const ReadRecording back = read_recording(bytes);
  ASSERT_TRUE(back.recording) << back.error;
  EXPECT_TRUE(*back.recording == expected);
  EXPECT_EQ(back.cut.kind, Cut::Kind::none);
  EXPECT_EQ(back.cut.bytes, 0u);
}

// Returns the recording as it was when it had this many samples, with its tables whole.
Recording first_samples(Recording recording, std::size_t count) {
  recording.samples.resize(count);
  return recording;
}

TEST(RecordingWriter, OneOfEverythingComesBack) {
  const Recording recording = wall_recording();
  expect_reads_as(bytes_of(recording), recording);
}

TEST(RecordingWriter, ADumpComesBack) {
  Recording recording = to_recording(representative_snapshot());
  expect_reads_as(bytes_of(recording), recording);
  recording.some_threads = true;
  recording.unasked = "the DAC crashed";
  recording.frames[0].source_url = "https://example.org/Client.cs";
  expect_reads_as(bytes_of(recording), recording);
  // Other formats make links of it.
  recording.frames[0].source_url = "javascript:alert(1)";
  const std::string bytes = bytes_of(recording);
  recording.frames[0].source_url.clear();
  expect_reads_as(bytes, recording);
}

TEST(RecordingWriter, ACrashComesBack) {
  constexpr std::uint64_t kMax = ~std::uint64_t{0};
  Recording recording = to_recording(test::crashed_program());
  ASSERT_TRUE(recording.crash);
  expect_reads_as(bytes_of(recording), recording);
  recording.crash = Crash{.thread = 0xFFFF'FFFF, .code = 0xFFFF'FFFF, .address = kMax, .access = CrashAccess::execute,
                          .touched = kMax, .detail = 0xFFFF'FFFF, .text = "the books do not balance",
                          .objects = {{.hresult = 0xFFFF'FFFF, .trace = {}}, {}}};
  recording.earlier_dumps = {{.time_ns = 1, .cpu = {}, .locks = {}, .locks_missing = {}, .unasked = {}}};
  recording.earlier_dumps[0].crash = Crash{.objects = recording.crash->objects};
  expect_reads_as(bytes_of(recording), recording);
}

TEST(RecordingWriter, ExceptionsThatThreadsHandleComeBack) {
  const HandledException both{{{.type = "T", .message = "m", .hresult = 0xFFFF'FFFF, .trace = {"f", ""}}, {}}};
  Recording recording = to_recording(representative_snapshot());
  recording.handled = {{0, both}, {0, {}}, {2, both}};
  recording.earlier_dumps = {{.time_ns = 1, .cpu = {}, .locks = {}, .locks_missing = {}, .unasked = {}}};
  recording.earlier_dumps[0].handled = {{1, both}, {0xFFFF'FFFF, {}}};
  expect_reads_as(bytes_of(recording), recording);
  recording.handled.resize(layout::kMaxExceptions);
  StringSink sink;
  RecordingWriter writer(sink);
  EXPECT_TRUE(writer.begin(recording));
  EXPECT_FALSE(writer.append(recording)) << "with their inner exceptions there are too many";
}

TEST(RecordingWriter, ASeriesOfDumpsComesBack) {
  constexpr std::uint64_t kMax = ~std::uint64_t{0};
  Recording recording = to_recording(representative_snapshot());
  Recording::EarlierDump most{
      .time_ns = kMax, .cpu = {std::nullopt, 0, kMax - 1}, .locks = {}, .locks_missing = "why", .unasked = "no"};
  most.locks = {{.kind = LockKind::srw_lock, .address = kMax, .type = "T", .owner = 1, .held = true, .recursion = 2},
                {.waiters = {{.os_id = 3, .pulse = true}, {.os_id = 4}}}};
  recording.earlier_dumps = {{}, most, {.time_ns = 1, .cpu = {5}, .locks = {}, .locks_missing = {}, .unasked = {}}};
  expect_reads_as(bytes_of(recording), recording);
}

TEST(RecordingWriter, AsynchronousWorkComesBack) {
  Snapshot snapshot = representative_snapshot();
  add_async_work(snapshot);
  const Recording recording = to_recording(snapshot);
  EXPECT_EQ(recording.async.tasks, snapshot.tasks);
  expect_reads_as(bytes_of(recording), recording);
  Recording series = series_recording({representative_snapshot(), snapshot});
  EXPECT_EQ(series.async, Recording::AsyncWork());
  EXPECT_EQ(series.earlier_dumps[1].async, recording.async);
  expect_reads_as(bytes_of(series), series);
}

TEST(RecordingWriter, EveryBitOfAsynchronousWorkComesBack) {
  constexpr std::uint64_t k64 = ~std::uint64_t{0};
  constexpr std::uint32_t k32 = ~std::uint32_t{0};
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  constexpr std::int32_t kMost32 = std::numeric_limits<std::int32_t>::max();
  Recording recording = to_recording(representative_snapshot());
  AsyncTask task{.address = k64,
                 .kind = kLastTaskKind,
                 .status = kLastTaskStatus,
                 .type = "t",
                 .method = "m",
                 .await_number = kMost32,
                 .file = "f",
                 .line = k32,
                 .source_url = "https://u",
                 .awaits = {1, 0},
                 .awaits_left_out = k32,
                 .object = k64,
                 .object_type = "o",
                 .thread = k32,
                 .continues_on = 1,
                 .not_resumed = true,
                 .due_ms = kMost};
  AsyncTask zeros;
  zeros.await_number = 0;
  zeros.due_ms = 0;
  zeros.continues_on = 0;
  recording.async = {.tasks = {task, {}, zeros},
                     .contexts = {{.address = k64, .type = "c", .thread = k32}, {}},
                     .pool = {.queued = kMost, .workers = kMost32, .working = 0, .goal = -1, .min = 0, .max = kMost32,
                              .items = {{.method = "m", .count = k32, .task = 2}, {}}},
                     .missing = "why",
                     .waits = {AsyncTask::kNone, 0, 2},
                     .traits = {{}, {.main = true}, {.pool = true}, {.sta = true}, {.mta = true}, {.pumps = true},
                                {.limited = true}, {.unlimited = true}},
                     .queue_positions = {k64, 0, 1}};
  recording.locks = {{.kind = LockKind::semaphore, .address = k64, .type = "s",
                      .sharers = {1, k32}, .task_holders = {0, 2}}};
  expect_reads_as(bytes_of(recording), recording);
}

// A reader that does not know semaphores takes them for a lock of .NET of this type.
TEST(RecordingWriter, ASemaphoreHasAKindThatEarlierReadersKnow) {
  Recording recording = to_recording(representative_snapshot());
  recording.locks = {{.kind = LockKind::semaphore, .address = 1, .type = "System.Threading.SemaphoreSlim"}};
  const std::string bytes = bytes_of(recording);
  recording.locks[0].kind = LockKind::threading_lock;
  EXPECT_EQ(bytes.size(), bytes_of(recording).size() + 2);  // the field that says what it is
}

// They take the end of a callback for an answer that a thread has to give.
TEST(RecordingWriter, TheEndOfACallbackHasAKindThatEarlierReadersKnow) {
  Recording recording = to_recording(representative_snapshot());
  recording.locks = {{.kind = LockKind::callback, .type = "System.Threading.CancellationToken",
                      .owner = 2, .held = true, .waiters = {{1}}}};
  expect_reads_as(bytes_of(recording), recording);
  const std::string bytes = bytes_of(recording);
  recording.locks[0].kind = LockKind::local_call;
  EXPECT_EQ(bytes.size(), bytes_of(recording).size() + 2);
}

TEST(RecordingWriter, TooManyTasksAreRefused) {
  Recording recording = to_recording(representative_snapshot());
  recording.async.tasks.resize(layout::kMaxTasks + 1);
  StringSink sink;
  EXPECT_FALSE(write_store(recording, sink));
}

TEST(RecordingWriter, AnEmptyRecordingComesBack) { expect_reads_as(bytes_of({}), {}); }

TEST(RecordingWriter, EveryBitOfEveryNumberComesBack) {
  constexpr std::uint64_t k64 = ~std::uint64_t{0};
  constexpr std::uint32_t k32 = ~std::uint32_t{0};
  Recording recording{.tool_version = std::string(300, 'v'),
                      .unix_time_ms = k64,
                      .duration_ns = k64,
                      .period_ns = k64,
                      .event = SampleEvent::allocation,
                      .process = {k32, "p", "c"},
                      .runtime = {"r", 0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF},
                      .engine = Engine::copy,
                      .dropped = k64};
  recording.modules = {{k64, k32, k32, std::string("\0\xff", 2)}, {}};
  CodeViewId id{.age = k32, .timestamp = k32, .portable = true, .path = std::string("\0\xff", 2)};
  id.guid.fill(std::byte{0xff});
  recording.modules[0].code_view = id;
  recording.modules[1].code_view = CodeViewId();
  recording.assemblies = {{.path = "a", .pdb = id}, {}};
  recording.threads = {{k32, k64, "\xff"}, {}};
  recording.details = {"", "d"};
  recording.frames = {{.kind = FrameKind::gap,
                       .trust = Trust::scan,
                       .address_kind = AddressKind::return_address,
                       .why = OpenReason::stack_cut,
                       .inline_depth = 255,
                       .address = k64,
                       .function = k64,
                       .module = 1,
                       .name = "n",
                       .displacement = k64},
                      {}};
  recording.nodes = {{Recording::kNone, 1}, {0, 0}, {Recording::kNone, 1}};
  recording.samples = {{0, k64, 1, 2, 1}, {k64, 0, 0, Recording::kNone, Recording::kNone}};
  expect_reads_as(bytes_of(recording), recording);
}

TEST(RecordingWriter, EveryEventComesBack) {
  for (int i = 0; i <= static_cast<int>(layout::kLastEvent); ++i) {
    const Recording recording = representative_recording(static_cast<SampleEvent>(i));
    expect_reads_as(bytes_of(recording), recording);
  }
}

// An earlier mixwalk must read the files that it can read, and refuse the others.
TEST(RecordingWriter, AFileSaysTheLowestVersionThatAReaderNeeds) {
  const auto version = [](SampleEvent event) {
    const std::string bytes = bytes_of({.event = event});
    // After the magic come tag and length of the header, then tag and value of its first field.
    const std::size_t first = layout::kMagic.size() + 2;
    EXPECT_EQ(bytes.at(first), '\x08');
    return static_cast<int>(bytes.at(first + 1));
  };
  EXPECT_EQ(version(SampleEvent::dump), 2);
  EXPECT_EQ(version(SampleEvent::wall), 2);
  EXPECT_EQ(version(SampleEvent::allocation), 2);
  EXPECT_EQ(version(SampleEvent::class_load), 3);
  EXPECT_EQ(version(SampleEvent::module_load), 3);
}

TEST(RecordingWriter, ManyChunksComeBack) {
  const Recording recording = large_recording({.samples = 200'000, .nodes = 70'000});
  const std::string bytes = bytes_of(recording);
  expect_reads_as(bytes, recording);
  EXPECT_GT(read_recording(bytes).cut.chunks, 4u);
}

// As in a recorder, everything grows, a thread gets another name, and samples are freed.
TEST(RecordingWriter, AppendsWhatIsNew) {
  const Snapshot snapshot = representative_snapshot();
  RecordingBuilder builder;
  Recording& recording = builder.recording();
  recording.event = SampleEvent::wall;
  StringSink sink;
  RecordingWriter writer(sink);
  ASSERT_TRUE(writer.begin(recording));
  recording.modules = snapshot.modules;
  recording.assemblies = snapshot.assemblies;
  std::vector<Recording::Sample> all;
  for (const Thread& thread : snapshot.threads) {
    Recording::Sample sample{.time_ns = recording.duration_ns};
    sample.thread = builder.add_thread(thread.os_id, thread.clr_id, thread.name);
    sample.stack = builder.add_stack(thread.stack);
    if (!thread.skipped.empty()) sample.detail = builder.add_detail(thread.skipped);
    recording.samples.push_back(sample);
    all.push_back(sample);
    recording.duration_ns += 1000;
    recording.dropped += 2;
    recording.threads.front().name = "renamed " + std::to_string(all.size());
    ASSERT_TRUE(writer.append(recording));
    const ReadRecording so_far = read_recording(sink.text);
    ASSERT_TRUE(so_far.recording) << so_far.error;
    Recording expected = recording;
    expected.samples = all;
    EXPECT_TRUE(*so_far.recording == expected) << all.size();
    EXPECT_EQ(so_far.cut, (Cut{Cut::Kind::no_footer, 0, all.size()}));
    if (all.size() == 2) {
      recording.samples.clear();
      writer.samples_cleared();
    }
  }
  ASSERT_TRUE(writer.end(recording));
  recording.samples = all;
  expect_reads_as(sink.text, recording);
}

TEST(RecordingWriter, NothingNewIsNothingWritten) {
  Recording recording = wall_recording();
  StringSink sink;
  RecordingWriter writer(sink);
  ASSERT_TRUE(writer.begin(recording) && writer.append(recording));
  const std::size_t first = sink.text.size();
  ASSERT_TRUE(writer.append(recording));
  EXPECT_EQ(sink.text.size(), first);
  recording.threads.front().name = "renamed";
  ASSERT_TRUE(writer.append(recording));
  const std::size_t renamed = sink.text.size();
  EXPECT_GT(renamed, first);
  ASSERT_TRUE(writer.append(recording));
  EXPECT_EQ(sink.text.size(), renamed);
}

TEST(RecordingWriter, InStepsIsTheSameAsAtOnce) {
  const Recording recording = wall_recording();
  StringSink sink;
  RecordingWriter writer(sink);
  ASSERT_TRUE(writer.begin(recording));
  for (std::size_t i = 0; i <= recording.samples.size(); ++i) {
    ASSERT_TRUE(writer.append(first_samples(recording, i)));
  }
  ASSERT_TRUE(writer.end(recording));
  expect_reads_as(sink.text, recording);
}

class FullDisk final : public ByteSink {
 public:
  explicit FullDisk(std::size_t room) : room_(room) {}
  bool write(std::string_view bytes) override {
    if (bytes.size() > room_) {
      room_ = 0;
      return false;
    }
    room_ -= bytes.size();
    return true;
  }

 private:
  std::size_t room_;
};

TEST(RecordingWriter, SaysWhenTheSinkRefuses) {
  const Recording recording = wall_recording();
  const std::size_t size = bytes_of(recording).size();
  for (std::size_t room = 0; room < size; ++room) {
    FullDisk disk(room);
    ASSERT_FALSE(write_store(recording, disk)) << room;
  }
  FullDisk enough(size);
  EXPECT_TRUE(write_store(recording, enough));
}

// Returns a chain of `depth` frames.
Recording chain(std::size_t depth) {
  Recording recording;
  recording.frames.resize(1);
  for (std::size_t i = 0; i < depth; ++i) {
    recording.nodes.push_back({i == 0 ? Recording::kNone : static_cast<std::uint32_t>(i - 1), 0});
  }
  return recording;
}

TEST(RecordingWriter, WhatItWritesIsWithinTheLimits) {
  expect_reads_as(bytes_of(chain(layout::kMaxDepth)), chain(layout::kMaxDepth));
  StringSink sink;
  RecordingWriter writer(sink);
  ASSERT_TRUE(writer.begin({}));
  EXPECT_FALSE(writer.append(chain(layout::kMaxDepth + 1)));
  EXPECT_EQ(writer.problem(), "a stack is too deep");
  Recording details;
  details.details.resize(layout::kMaxDetails + 1);
  EXPECT_FALSE(RecordingWriter(sink).append(details));
}

TEST(RecordingWriter, AfterALimitTheFileCanStillBeEnded) {
  Recording recording = wall_recording();
  StringSink sink;
  RecordingWriter writer(sink);
  ASSERT_TRUE(writer.begin(recording) && writer.append(recording));
  const Recording expected = recording;
  recording.details.resize(layout::kMaxDetails + 1);
  EXPECT_FALSE(writer.append(recording));
  EXPECT_FALSE(writer.end(recording)) << "what is new is not written";
  expect_reads_as(sink.text, expected);
}

TEST(RecordingWriter, TheFormatStays) {
  expect_golden("wall.mixwalk", bytes_of(wall_recording()));
  expect_golden("dump.mixwalk", bytes_of(to_recording(representative_snapshot())));
  expect_golden("async.mixwalk", bytes_of(to_recording(checked_snapshot())));
}

}  // namespace
}  // namespace mixwalk
