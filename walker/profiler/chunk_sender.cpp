#include "walker/profiler/chunk_sender.h"

#include <algorithm>
#include <new>
#include <utility>

#include "walker/base/win/file_time.h"

namespace mixwalk {
namespace {

// Tables of this size are some 2 MiB, names included.
constexpr std::size_t kFileFrames = 5'000;
constexpr std::size_t kFileNodes = 20'000;
constexpr std::size_t kFileOthers = 4'000;  // each of modules, threads, and details
constexpr std::uint64_t kFileSamples = 1 << 24;  // an eighth of what a file may hold
// The limit for data that wait for the reader.
constexpr std::size_t kMaxBytesInFlight = 8 << 20;

// std::chrono is not used, because its clock is that of winpthreads. This DLL must not use winpthreads
// (no_winpthreads).
std::uint64_t unix_time_ms() {
  FILETIME now;
  GetSystemTimeAsFileTime(&now);
  return (ticks_of(now) - kTicksUntil1970) / kTicksOfMs;
}

bool is_full(const Recording& file) {
  return file.frames.size() > kFileFrames || file.nodes.size() > kFileNodes || file.modules.size() > kFileOthers ||
         file.threads.size() > kFileOthers || file.details.size() > kFileOthers ||
         file.assemblies.size() > kFileOthers;
}

}  // namespace

ChunkSender::ChunkSender(Sampler& sampler, PipeEnd& pipe, HANDLE stop, const Hello& hello, const RecordRequest& request)
    : sampler_(sampler),
      pipe_(pipe),
      stop_(stop),
      hello_(hello),
      request_(request),
      more_(CreateEventW(nullptr, FALSE, FALSE, nullptr)) {
  if (!more_) throw std::bad_alloc();
}

void ChunkSender::begin() {
  unix_time_ms_ = unix_time_ms();
  begin_file();
}

void ChunkSender::begin_file() {
  builder_.emplace();
  Recording& recording = builder_->recording();
  recording.unix_time_ms = unix_time_ms_;
  recording.period_ns = is_moment(request_.event) ? 0 : request_.period_ns;
  recording.event = request_.event;
  recording.engine = request_.sampling.engine;
  recording.process = hello_.process;
  recording.runtime = hello_.runtime;
  sink_.text.clear();
  writer_.emplace(sink_);
  writer_->begin(recording);
  new_file_ = true;
  dropped_ = 0;
  dropped_written_ = 0;
  file_samples_ = 0;
}

void ChunkSender::count_sample(Completeness completeness) {
  ++progress_.samples;
  progress_.whole += completeness == Completeness::whole;
  progress_.guessed += completeness == Completeness::guessed;
  Recording& recording = builder_->recording();
  for (const auto modules = sampler_.modules(); recording.modules.size() < modules.size();) {
    builder_->add_module(modules[recording.modules.size()]);
  }
  for (const auto assemblies = sampler_.assemblies(); recording.assemblies.size() < assemblies.size();) {
    builder_->add_assembly(assemblies[recording.assemblies.size()]);
  }
}

void ChunkSender::count_freeze(const Thread& frozen) {
  frozen_.add(frozen.frozen_ns);
  stopping_.add(frozen.stopping_ns);
  progress_.interventions += frozen.overdue;
}

bool ChunkSender::has_room() const noexcept {
  return !pending_ && !ring_.full() && bytes_in_flight_ < kMaxBytesInFlight;
}

void ChunkSender::flush() {
  if (!pending_) {
    Recording& recording = builder_->recording();
    recording.dropped = dropped_;
    recording.duration_ns = std::max(recording.duration_ns, reached_ns_);
    const std::size_t samples = recording.samples.size();
    const bool written = writer_->append(recording);
    file_samples_ += samples;
    recording.samples.clear();
    writer_->samples_cleared();
    if (!written) {
      // A limit of the format was exceeded, so the next file says that these samples are lost.
      const std::uint64_t lost = dropped_ - dropped_written_ + samples;
      sampler_.forget();
      begin_file();
      dropped_ = lost;
      return;
    }
    dropped_written_ = dropped_;
    if (sink_.text.empty() && progress_.events == events_written_) return;
    events_written_ = progress_.events;
    progress_.frozen = frozen_.percentiles();
    progress_.stopping = stopping_.percentiles();
    pending_ = RecordedBytes{std::exchange(new_file_, false), std::exchange(sink_.text, {}), progress_};
    if (is_full(recording) || file_samples_ > kFileSamples) {
      sampler_.forget();
      begin_file();
    }
  }
  const std::size_t bytes = pending_->bytes.size();
  bytes_in_flight_ += bytes;
  if (!ring_.push(*pending_)) {
    bytes_in_flight_ -= bytes;
    return;
  }
  pending_.reset();
  SetEvent(more_.get());
}

bool ChunkSender::drain(std::uint64_t duration_ns) {
  constexpr DWORD kLookMs = 10;
  builder_->recording().duration_ns = duration_ns;
  do {
    flush();
    if (broken_) break;
    if (pending_) Sleep(kLookMs);
  } while (pending_);
  flush();
  finished_ = true;
  SetEvent(more_.get());
  return !broken_;
}

void ChunkSender::send_chunks() {
  RecordedBytes chunk;
  while (true) {
    if (!ring_.pop(chunk)) {
      if (finished_) return;
      WaitForSingleObject(more_.get(), INFINITE);
      continue;
    }
    const std::size_t bytes = chunk.bytes.size();
    if (!broken_ && !pipe_.send(std::move(chunk))) break_off();
    bytes_in_flight_ -= bytes;
  }
}

void ChunkSender::break_off() noexcept {
  broken_ = true;
  SetEvent(stop_);
}

void ChunkSender::abandon() noexcept {
  broken_ = finished_ = true;
  SetEvent(more_.get());
}

}  // namespace mixwalk
