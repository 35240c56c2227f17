#include "walker/store/recording_reader.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/builders/record_builder.h"
#include "tests/support/golden.h"
#include "tests/walker/store/wall_recording.h"
#include "walker/shown/words.h"
#include "walker/store/layout.h"
#include "walker/store/recording_writer.h"

namespace mixwalk {
namespace {

// Fields of docs/mixwalk.proto, by their numbers there.
constexpr std::uint32_t kHeader = 2, kChunk = 3, kFooter = 4;

std::string bytes_of(const Recording& recording) {
  StringSink sink;
  EXPECT_TRUE(write_store(recording, sink));
  return sink.text;
}

std::string header(std::uint64_t version = 1) { return sealed(kHeader, number_field(1, version)); }

std::string file_of(const std::string& chunk) {
  return file_magic() + header() + sealed(kChunk, chunk) + sealed(kFooter, "");
}

void expect_error(const std::string& bytes, const std::string& says) {
  const ReadRecording result = read_recording(bytes);
  EXPECT_FALSE(result.recording);
  EXPECT_NE(result.error.find(says), std::string::npos) << result.error << "\nexpected: " << says;
  EXPECT_EQ(result.error.find('\n'), std::string::npos);
  EXPECT_LT(result.error.size(), 100u);
}

void expect_forged(const std::string& chunk, const std::string& says) {
  expect_error(file_of(chunk), "chunk 1 makes no sense: " + says);
}

// Tables with one frame, one node and one thread, to which samples may refer.
std::string tables() {
  return bytes_field(5, "") + bytes_field(6, packed({0})) + bytes_field(7, packed({0})) +
         bytes_field(2, "");
}

std::string samples(const std::string& times, const std::string& threads,
                    const std::string& stacks, const std::string& values,
                    const std::string& details = {}) {
  return bytes_field(8, times) + bytes_field(9, threads) + bytes_field(10, stacks) +
         bytes_field(11, values) + (details.empty() ? "" : bytes_field(12, details));
}

TEST(RecordingReader, AStandingOfALaterVersionIsUnknown) {
  const std::string chunk = tables() + samples(packed({1, 1}), packed({0, 0}), packed({1, 1}), packed({2, 0}));
  const ReadRecording read = read_recording(file_of(chunk + bytes_field(27, packed({2, 4}))));
  ASSERT_TRUE(read.recording) << read.error;
  EXPECT_EQ(read.recording->samples[0].standing, Standing::idle);
  EXPECT_EQ(read.recording->samples[1].standing, Standing::unknown);
  expect_forged(chunk + bytes_field(27, packed({2})), "the columns of the samples differ in length");
}

// Expects that `part` is a beginning of `all`: everything in it is in `all`, in the same order.
void expect_beginning(const Recording& part, const Recording& all) {
  ASSERT_LE(part.samples.size(), all.samples.size());
  EXPECT_TRUE(std::equal(part.samples.begin(), part.samples.end(), all.samples.begin()));
  ASSERT_LE(part.nodes.size(), all.nodes.size());
  EXPECT_TRUE(std::equal(part.nodes.begin(), part.nodes.end(), all.nodes.begin()));
  ASSERT_LE(part.frames.size(), all.frames.size());
  EXPECT_TRUE(std::equal(part.frames.begin(), part.frames.end(), all.frames.begin()));
  EXPECT_EQ(part.process, all.process);
}

// A file of four chunks, and the places where its records end.
struct Steps {
  std::string bytes;
  std::vector<std::size_t> ends;  // header, chunks; the footer ends the file
};
Steps in_steps(const Recording& recording) {
  Steps steps;
  StringSink sink;
  RecordingWriter writer(sink);
  EXPECT_TRUE(writer.begin(recording));
  steps.ends.push_back(sink.text.size());
  // Tables grow with the samples: nodes and frames are added only as far as they are needed.
  for (std::size_t count = 3; count <= recording.samples.size(); count += 3) {
    Recording part = recording;
    part.samples.resize(count);
    std::uint32_t last = 0;
    for (const auto& sample : part.samples) {
      if (sample.stack != Recording::kNone) last = std::max(last, sample.stack);
    }
    part.nodes.resize(last + 1);
    std::uint32_t frame = 0;
    for (const auto& node : part.nodes) frame = std::max(frame, node.frame);
    part.frames.resize(frame + 1);
    part.duration_ns = part.dropped = 0;
    EXPECT_TRUE(writer.append(part));
    steps.ends.push_back(sink.text.size());
  }
  // The footer is what writer.end() adds to the file; there is no further chunk.
  steps.bytes = sink.text + sealed(kFooter, number_field(1, recording.duration_ns) +
                                                number_field(2, recording.dropped));
  return steps;
}

TEST(RecordingReader, EveryBeginningIsReadableOrSaysWhy) {
  const Recording recording = wall_recording();
  const auto [bytes, ends] = in_steps(recording);
  ASSERT_EQ(ends.size(), 5u);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    SCOPED_TRACE(size);
    const ReadRecording result = read_recording(std::string_view(bytes).substr(0, size));
    if (size < ends[0]) {
      EXPECT_FALSE(result.recording);
      EXPECT_EQ(result.error, size == 0 ? "it is no mixwalk recording" : "it ends within its header");
      continue;
    }
    ASSERT_TRUE(result.recording) << result.error;
    std::size_t whole = 0;
    while (whole + 1 < ends.size() && ends[whole + 1] <= size) ++whole;
    EXPECT_EQ(result.cut.chunks, whole);
    EXPECT_EQ(result.cut.bytes, size - ends[whole]);
    EXPECT_EQ(result.cut.kind, size == ends[whole] ? Cut::Kind::no_footer : Cut::Kind::torn);
    EXPECT_EQ(result.recording->samples.size(), 3 * whole) << "each chunk has three";
    expect_beginning(*result.recording, recording);
  }
}

TEST(RecordingReader, NoFlippedBitGoesUnnoticed) {
  const Recording recording = wall_recording();
  std::string bytes = in_steps(recording).bytes;
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    SCOPED_TRACE(bit);
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
    const ReadRecording result = read_recording(bytes);
    if (result.recording) {
      EXPECT_NE(result.cut.kind, Cut::Kind::none);
      EXPECT_GT(result.cut.bytes, 0u);
      expect_beginning(*result.recording, recording);
    } else {
      EXPECT_FALSE(result.error.empty());
    }
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
  }
  EXPECT_EQ(read_recording(bytes).cut.kind, Cut::Kind::none);
}

// The same, but with correct checksums, as an attacker would send them. The reader may read another recording from the
// bytes, but never an impossible one.
TEST(RecordingReader, NoForgedByteMakesAnIndexThatLeadsNowhere) {
  const std::string whole = in_steps(wall_recording()).bytes;
  std::size_t taken = 0;
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string bytes = whole;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
    const ReadRecording result = read_recording(resealed(bytes));
    if (!result.recording) continue;
    ++taken;
    const Recording& recording = *result.recording;
    for (const Frame& frame : recording.frames) {
      ASSERT_LT(frame.module, static_cast<std::int64_t>(recording.modules.size()));
      ASSERT_GE(frame.module, Frame::kNone);
    }
    for (std::size_t i = 0; i < recording.nodes.size(); ++i) {
      const Recording::Node& node = recording.nodes[i];
      ASSERT_LT(node.frame, recording.frames.size());
      ASSERT_TRUE(node.parent == Recording::kNone || node.parent < i);
    }
    std::uint64_t time = 0;
    for (const Recording::Sample& sample : recording.samples) {
      ASSERT_GE(sample.time_ns, time);
      time = sample.time_ns;
      ASSERT_LT(sample.thread, recording.threads.size());
      ASSERT_TRUE(sample.stack == Recording::kNone || sample.stack < recording.nodes.size());
      ASSERT_TRUE(sample.detail == Recording::kNone || sample.detail < recording.details.size());
    }
    ASSERT_GE(recording.duration_ns, time);
  }
  EXPECT_GT(taken, whole.size()) << "names and addresses may be anything";
}

TEST(RecordingReader, ADamagedChunkEndsTheReading) {
  const Recording recording = wall_recording();
  auto [bytes, ends] = in_steps(recording);
  bytes[ends[2] + 10] ^= 1;
  const ReadRecording result = read_recording(bytes);
  ASSERT_TRUE(result.recording);
  EXPECT_EQ(result.cut, (Cut{Cut::Kind::damaged, bytes.size() - ends[2], 2}));
  EXPECT_EQ(result.recording->samples.size(), 6u);
}

TEST(RecordingReader, BytesAfterTheEndAreLeftOut) {
  const Recording recording = wall_recording();
  const std::string bytes = bytes_of(recording);
  const ReadRecording result = read_recording(bytes + bytes);
  ASSERT_TRUE(result.recording);
  EXPECT_TRUE(*result.recording == recording);
  EXPECT_EQ(result.cut, (Cut{Cut::Kind::trailing, bytes.size(), 1}));
}

TEST(RecordingReader, OtherFiles) {
  expect_error("", "no mixwalk recording");
  expect_error("PK\3\4", "no mixwalk recording");
  expect_error(std::string(1000, '\0'), "no mixwalk recording");
  expect_error(file_magic(), "ends within its header");
  expect_error(file_magic() + sealed(kChunk, ""), "no header");
  expect_error(file_magic() + sealed(kHeader, ""), "no version");
  expect_error(file_magic() + header(4), "a later version");
  expect_error(file_magic() + header(std::uint64_t{1} << 32), "a later version");
  EXPECT_EQ(read_recording(file_magic() + header(4)).error,
            "a later version of mixwalk wrote it: read it with that version");
  // Of a later version, the other fields are not judged.
  expect_error(file_magic() + sealed(kHeader, number_field(1, 4) + number_field(5, 7)), "a later version");
  expect_error(file_magic() + header() + header(), "two headers");
  expect_error(file_magic() + std::string(30, '\x7f'), "header is damaged");
  expect_error(file_magic() + sealed(kHeader, number_field(1, 1) + number_field(5, 7)),
               "an enumeration's value is not known");
}

TEST(RecordingReader, WhatALaterMixwalkAddsIsSkipped) {
  const std::string later = bytes_field(100, "new") + number_field(101, 7);
  const ReadRecording result =
      read_recording(file_magic() + sealed(kHeader, number_field(1, 1) + later) +
                     sealed(9, "another kind of record") +
                     sealed(kChunk, later + bytes_field(2, number_field(1, 77) + later)) +
                     sealed(kFooter, later + number_field(1, 5)));
  ASSERT_TRUE(result.recording) << result.error;
  EXPECT_EQ(result.recording->threads.at(0).os_id, 77u);
  EXPECT_EQ(result.recording->duration_ns, 5u);
}

TEST(RecordingReader, FieldsMayComeInAnyOrder) {
  const std::string chunk = samples("\5", packed({0}), packed({1}), packed({2})) + tables() +
                            bytes_field(5, number_field(8, 1)) + bytes_field(1, "");
  const ReadRecording result = read_recording(file_of(chunk));
  ASSERT_TRUE(result.recording) << result.error;
  ASSERT_EQ(result.recording->samples.size(), 1u);
  EXPECT_EQ(result.recording->samples[0],
            (Recording::Sample{.time_ns = 5, .value = 1, .thread = 0, .stack = 0}));
  EXPECT_EQ(result.recording->frames.at(1).module, 0);
  EXPECT_EQ(result.recording->duration_ns, 5u) << "no less than the last sample's time";
}

TEST(RecordingReader, ForgedTables) {
  expect_forged(bytes_field(3, number_field(1, 0)), "a renamed thread does not exist");
  expect_forged(bytes_field(5, number_field(8, 1)), "a frame's module does not exist");
  expect_forged(bytes_field(5, number_field(8, ~0ull)), "a frame's module does not exist");
  expect_forged(bytes_field(5, number_field(1, 4)), "an enumeration's value is not known");
  expect_forged(bytes_field(5, number_field(2, ~0ull)), "an enumeration's value is not known");
  expect_forged(bytes_field(5, number_field(3, 1ull << 32)), "an enumeration's value");
  expect_forged(bytes_field(5, number_field(4, kOpenReasons)), "an enumeration's value is not known");
  expect_forged(bytes_field(5, number_field(5, 256)), "a number is too large");
  expect_forged(bytes_field(2, number_field(1, 1ull << 32)), "a number is too large");
  expect_forged(bytes_field(5, "\x0f"), "it is no protobuf message");
  expect_forged(std::string(1, '\x2a') + "\x05", "it is no protobuf message");
  expect_forged(number_field(5, 0), "a field has another type");
  expect_forged(number_field(6, 0), "a column is not packed");
  expect_forged(bytes_field(13, ""), "a field has another type");
}

constexpr std::uint64_t kNoLock = static_cast<std::uint64_t>(layout::kLastLock) + 1;

TEST(RecordingReader, ForgedLocks) {
  expect_forged(bytes_field(21, number_field(1, kNoLock)), "an enumeration's value is not known");
  expect_forged(bytes_field(21, number_field(4, 1ull << 32)), "a number is too large");
  expect_forged(bytes_field(21, number_field(6, 1ull << 32)), "a number is too large");
  expect_forged(bytes_field(21, bytes_field(7, number_field(1, 1ull << 32))), "a number is too large");
  expect_forged(bytes_field(21, number_field(7, 1)), "a field has another type");
}

TEST(RecordingReader, ForgedEarlierDumps) {
  expect_forged(number_field(24, 1), "a field has another type");
  expect_forged(bytes_field(24, number_field(2, 1)), "a column is not packed");
  expect_forged(bytes_field(24, bytes_field(2, "\x80")), "it is no protobuf message");
  expect_forged(bytes_field(24, bytes_field(3, number_field(1, kNoLock))), "an enumeration's value is not known");
  expect_forged(bytes_field(24, bytes_field(3, number_field(4, 1ull << 32))), "a number is too large");
  std::string many;
  for (std::size_t i = 0; i <= layout::kMaxEarlierDumps; ++i) many += bytes_field(24, "");
  expect_forged(many, "there are too many dumps");
  const std::string times = bytes_field(24, bytes_field(2, std::string(layout::kMaxCpuTimes / 2 + 1, '\1')));
  expect_forged(times + times, "there are too many processor times");
  // Locks are counted over all dumps.
  many.clear();
  for (std::size_t i = 0; i < layout::kMaxLocks; ++i) many += bytes_field(3, "");
  expect_forged(bytes_field(24, many) + bytes_field(21, ""), "there are too many locks");
}

TEST(RecordingReader, AFileThatDoesNotSpeakOfLocksKnowsNone) {
  const auto missing = [](const std::string& chunk) {
    const ReadRecording read = read_recording(file_of(chunk));
    return read.recording ? read.recording->locks_missing : "no recording";
  };
  EXPECT_EQ(missing(""), "the file does not say");
  EXPECT_EQ(missing(number_field(23, 1)), "");
  EXPECT_EQ(missing(bytes_field(22, "why")), "why");
}

TEST(RecordingReader, ForgedNodes) {
  const std::string frame = bytes_field(5, "");
  const auto nodes = [&](const std::string& callers, const std::string& frames) {
    return frame + bytes_field(6, callers) + bytes_field(7, frames);
  };
  expect_forged(nodes(packed({1}), packed({0})), "a node's caller does not come before it");
  expect_forged(nodes(packed({0, 2}), packed({0, 0})), "a node's caller does not come before it");
  expect_forged(nodes(packed({0, 0xFFFF'FFFF}), packed({0, 0})), "a node's caller");
  expect_forged(nodes(packed({0}), packed({2})), "a node's frame does not exist");
  expect_forged(nodes(packed({0}), packed({1})), "a node's frame does not exist");  // -1
  expect_forged(nodes(packed({0, 1}), packed({0})), "the columns of the nodes differ in length");
  expect_forged(nodes(packed({0}), packed({0})) + bytes_field(6, packed({0})),
                "a column comes twice");
  expect_forged(nodes("\x80", packed({0})), "the columns of the nodes differ in length");
  expect_forged(nodes(std::string(11, '\xff') + '\1', packed({0})), "it is no protobuf message");
}

TEST(RecordingReader, ForgedSamples) {
  EXPECT_TRUE(read_recording(file_of(tables() + samples("\1", packed({0}), "\1", "\2"))).recording);
  const std::string zero = packed({0});
  expect_forged(tables() + samples(zero, packed({1}), zero, zero), "a sample's thread");
  expect_forged(tables() + samples(zero, zero, packed({2}), zero), "a sample's stack");
  expect_forged(tables() + samples(zero, zero, packed({0xFFFF'FFFF}), zero), "a sample's stack");
  expect_forged(tables() + samples(zero, zero, zero, zero, packed({1})), "a sample's detail");
  expect_forged(tables() + samples(packed({1, 1}), zero, zero, zero), "the columns of the samples");
  expect_forged(tables() + samples("", zero, zero, zero), "the columns of the samples");
  expect_forged(tables() + bytes_field(12, zero), "the columns of the samples");
  expect_forged(tables() + samples(packed({~0ull, 1}), packed({0, 0}), packed({0, 0}),
                                   packed({0, 0})),
                "time goes back");
  const std::string chunk = samples(packed({5}), zero, zero, zero);
  const std::string earlier = samples(packed({4}), zero, zero, zero);
  expect_error(file_magic() + header() + sealed(kChunk, tables() + chunk) +
                   sealed(kChunk, earlier),
               "chunk 2 makes no sense: time goes back");
}

// One more of this field than the limit allows.
std::string too_many(const std::string& field, std::size_t limit) {
  std::string all;
  all.reserve(field.size() * (limit + 1));
  for (std::size_t i = 0; i <= limit; ++i) all += field;
  return all;
}

// A few bytes must not request much memory, nor stacks without an end.
TEST(RecordingReader, Limits) {
  expect_forged(too_many(bytes_field(1, ""), layout::kMaxModules), "there are too many modules");
  expect_forged(too_many(bytes_field(4, ""), layout::kMaxDetails), "there are too many details");
  expect_forged(too_many(bytes_field(2, ""), layout::kMaxThreads), "there are too many threads");
  expect_forged(bytes_field(2, "") + too_many(bytes_field(3, ""), layout::kMaxThreads),
                "there are too many names of threads");
  expect_forged(too_many(bytes_field(21, ""), layout::kMaxLocks), "there are too many locks");
  const std::string half = bytes_field(21, too_many(bytes_field(7, ""), layout::kMaxWaiters / 2));
  expect_forged(half + half, "there are too many waiting threads");
  const std::string deep(layout::kMaxDepth, '\1');
  expect_forged(bytes_field(5, "") + bytes_field(6, '\0' + deep) +
                    bytes_field(7, '\0' + std::string(layout::kMaxDepth, '\0')),
                "a stack is too deep");
  const std::string nodes(layout::kMaxNodes + 1, '\0');
  expect_forged(bytes_field(5, "") + bytes_field(6, nodes) + bytes_field(7, nodes),
                "there are too many nodes");
}

// If the model got a value that the format does not have, mixwalk would write files that no reader accepts. Each last
// value here must be the last one for which the enumeration has a word.
TEST(RecordingReader, KnowsEveryValueOfTheModel) {
  const auto is_last = [](auto value) {
    const auto next = static_cast<decltype(value)>(static_cast<int>(value) + 1);
    return !enum_name(value).empty() && enum_name(next).empty();
  };
  EXPECT_TRUE(is_last(layout::kLastEngine));
  EXPECT_TRUE(is_last(layout::kLastKind));
  EXPECT_TRUE(is_last(Trust::frame_pointer)) << "written as a field of its own";
  EXPECT_TRUE(is_last(layout::kLastReason));
  EXPECT_TRUE(is_last(LockKind::callback)) << "written as a field of its own, as is the semaphore";
  EXPECT_TRUE(is_last(kLastTaskKind));
  EXPECT_TRUE(is_last(kLastTaskStatus));
}

TEST(RecordingReader, GoldenFilesStayReadable) {
  for (const char* name : {"wall.mixwalk", "dump.mixwalk", "async.mixwalk"}) {
    const ReadRecording result = read_recording(file_text(golden_file(name)));
    ASSERT_TRUE(result.recording) << name << ": " << result.error;
    EXPECT_EQ(result.cut.kind, Cut::Kind::none);
    EXPECT_EQ(result.recording->process.command_line, "orders.exe --port 8080");
    EXPECT_FALSE(result.recording->samples.empty());
  }
}

TEST(RecordingReader, SaysWhatIsCut) {
  EXPECT_EQ(sentence(Cut{}), "");
  EXPECT_NE(sentence({Cut::Kind::torn, 812, 3}).find("its last 812 bytes are left out"),
            std::string::npos);
  EXPECT_NE(sentence({Cut::Kind::damaged, 1, 3}).find("its last 1 byte is left out"),
            std::string::npos);
}

}  // namespace
}  // namespace mixwalk
