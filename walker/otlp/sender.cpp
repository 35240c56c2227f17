#include "walker/otlp/sender.h"

#include <fmt/format.h>

#include <exception>
#include <random>

#include "walker/base/count_words.h"
#include "walker/shown/recording_filter.h"

namespace mixwalk {
namespace {

// Batches of ten seconds wait here only while the disk is slow.
constexpr std::size_t kMaxQueue = 4;

}  // namespace

OtlpSender::OtlpSender(Spool& spool, HttpPost& post, const Options& options)
    : spool_(spool),
      options_(options),
      delivery_(spool, post, patience_, std::random_device{}()),
      maker_([this] { make_requests(); }),
      poster_([this] { deliver(); }) {}

OtlpSender::~OtlpSender() {
  if (maker_.joinable()) finish(std::chrono::milliseconds(0));
}

bool OtlpSender::has_room() {
  const std::lock_guard lock(mutex_);
  return queue_.size() < kMaxQueue;
}

void OtlpSender::offer(Recording recording) {
  const std::lock_guard lock(mutex_);
  queue_.push_back(std::move(recording));
  changed_.notify_all();
}

DeliveryReport OtlpSender::finish(std::chrono::milliseconds patience) {
  {
    const std::lock_guard lock(mutex_);
    offered_all_ = true;
    changed_.notify_all();
  }
  maker_.join();
  patience_.end_within(patience);
  poster_.join();
  DeliveryReport report = delivery_.report();
  report.add(unkept_);
  report.waiting = spool_.waiting().size();
  return report;
}

void OtlpSender::make_requests() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return offered_all_ || !queue_.empty(); });
    if (queue_.empty()) break;
    // The element stays in the queue until it is processed, because that limits the number of recordings in memory.
    Recording recording = std::move(queue_.front());
    lock.unlock();
    const std::size_t samples = recording.samples.size();
    try {
      for_each_request(filtered(std::move(recording), options_.filter), options_.content,
                       kMaxRequestBytes,
                       [this](const std::string& request, std::size_t its) { keep(request, its); });
    } catch (const std::exception& error) {
      ++unkept_.lost;
      unkept_.say(fmt::format("up to {} lost: {}", count_words(samples, "sample is", "samples are"), error.what()));
    }
    lock.lock();
    queue_.pop_front();
  }
  kept_all_ = true;
  changed_.notify_all();
}

void OtlpSender::keep(const std::string& request, std::size_t samples) {
  if (const std::string problem = spool_.add(request); !problem.empty()) {
    ++unkept_.lost;
    unkept_.say(fmt::format("cannot keep {} ({}) in the spool: {}", count_words(samples, "sample"),
                            count_words(request.size(), "byte"), problem));
    return;
  }
  const std::lock_guard lock(mutex_);
  ++kept_;
  changed_.notify_all();
}

void OtlpSender::deliver() {
  std::unique_lock lock(mutex_);
  while (true) {
    const std::size_t known = kept_;
    const bool last = kept_all_;
    lock.unlock();
    bool patient = true;
    try {
      patient = delivery_.run();
    } catch (const std::exception&) {
      // There is no memory left. The requests in the spool stay there.
    }
    lock.lock();
    if (last || !patient) return;  // patience ends when all requests are kept, not before
    changed_.wait(lock, [&] { return kept_all_ || kept_ != known; });
  }
}

}  // namespace mixwalk
