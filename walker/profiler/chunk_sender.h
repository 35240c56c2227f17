#pragma once

#include <windows.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "unmanaged/win/unique_handle.h"
#include "walker/model/duration_histogram.h"
#include "walker/model/recording_builder.h"
#include "walker/profiler/bounded_queue.h"
#include "walker/profiler/pipe_end.h"
#include "walker/profiler/sampler.h"
#include "walker/store/recording_writer.h"

namespace mixwalk {

// Makes the .mixwalk files of a recording, and sends them to mixwalk.exe in chunks. Not frozen-safe: nothing may be
// frozen while one of its functions runs. One thread adds samples, and one more runs send_chunks().
//
// The target never waits for mixwalk.exe: chunks go through a bounded ring, and while the ring is full, has_room() is
// false and samples are to be dropped. The memory in the target is bounded as well, since a new file begins when the
// tables of interned frames have reached a certain size.
class ChunkSender {
 public:
  // How often flush() is to be called. If the pipe breaks, at most the samples of this time are lost.
  static constexpr std::uint64_t kFlushNs = 100'000'000;

  // `stop`: an event that is set when the pipe breaks.
  ChunkSender(Sampler& sampler, PipeEnd& pipe, HANDLE stop, const Hello& hello, const RecordRequest& request);

  // Begins the first file.
  void begin();

  // Counts a sample with such a stack, and adds the images and assemblies that the sampler has met. To be called before
  // the sample's stack is added.
  void count_sample(Completeness completeness);
  // Interns the sample's stack, thread and detail.
  RecordingBuilder& builder() noexcept { return *builder_; }
  void add(const Recording::Sample& sample) { builder_->recording().samples.push_back(sample); }
  void count_dropped(std::uint64_t samples) noexcept { dropped_ += samples; }
  void count_freeze(const Thread& frozen);
  RecordProgress& progress() noexcept { return progress_; }
  // The latest time of a sample, since the beginning of the recording.
  std::uint64_t reached_ns() const noexcept { return reached_ns_; }
  void reach(std::uint64_t time_ns) noexcept { reached_ns_ = std::max(reached_ns_, time_ns); }

  bool has_room() const noexcept;
  // Hands what was added to the sending thread, as one chunk, if the ring has room for it.
  void flush();
  // Sends everything that is left, as long as mixwalk.exe reads. Returns false if the pipe is broken.
  bool drain(std::uint64_t duration_ns);

  // The work of the sending thread. Ends after drain() or abandon().
  void send_chunks();
  // From any thread: nothing more can be sent.
  void break_off() noexcept;
  // Lets the sending thread end without sending what is left.
  void abandon() noexcept;

 private:
  void begin_file();

  Sampler& sampler_;
  PipeEnd& pipe_;
  const HANDLE stop_;
  const Hello& hello_;
  const RecordRequest& request_;
  std::uint64_t unix_time_ms_ = 0;  // when the recording began
  std::optional<RecordingBuilder> builder_;
  StringSink sink_;
  std::optional<RecordingWriter> writer_;
  bool new_file_ = false;  // the next chunk begins a new file
  std::optional<RecordedBytes> pending_;  // a chunk that was made when the ring was full
  BoundedQueue<RecordedBytes, 32> ring_;
  std::atomic<std::size_t> bytes_in_flight_{0};

  RecordProgress progress_;
  DurationHistogram frozen_, stopping_;
  std::uint64_t reached_ns_ = 0;
  // Of the file that is being made.
  std::uint64_t dropped_ = 0, file_samples_ = 0;
  std::uint64_t dropped_written_ = 0;  // how many of dropped_ a chunk has reported
  std::uint64_t events_written_ = 0;   // how many of progress_.events a chunk has reported

  const UniqueHandle more_;           // an event: the ring is not empty
  std::atomic<bool> broken_{false};   // whether the pipe is broken
  std::atomic<bool> finished_{false}; // no more chunks will come
};

}  // namespace mixwalk
