#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "walker/model/recording.h"
#include "walker/otlp/delivery.h"
#include "walker/otlp/requests.h"
#include "walker/shown/frame_selection.h"

namespace mixwalk {

// Sends recordings to a collector. One thread makes requests from the recordings and writes them into the spool; a
// second thread posts the requests in the spool, those of earlier runs first. No call except finish() waits for a
// thread.
class OtlpSender {
 public:
  struct Options {
    FrameFilter filter;
    RequestContent content;
    // How long finish() goes on trying after the last success.
    std::chrono::milliseconds patience{10'000};
  };

  // `spool` and `post` must outlive this object.
  OtlpSender(Spool& spool, HttpPost& post, const Options& options);
  ~OtlpSender();  // without finish(), requests that are not being sent stay in the spool

  // Returns false if the queue is full. A recording stays in the queue until it is processed. Only one thread offers
  // recordings, so between the calls of that thread the room can only grow.
  bool has_room();
  void offer(Recording recording);
  // Waits for the threads, and reports what happened to all requests. No recording may be offered after that.
  DeliveryReport finish() { return finish(options_.patience); }

 private:
  DeliveryReport finish(std::chrono::milliseconds patience);
  void make_requests();
  void keep(const std::string& request, std::size_t samples);
  void deliver();

  Spool& spool_;
  const Options options_;
  Patience patience_;
  Delivery delivery_;      // used by the poster
  DeliveryReport unkept_;  // used by the maker: requests that could not be kept
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Recording> queue_;
  std::size_t kept_ = 0;  // how many requests so far
  bool offered_all_ = false, kept_all_ = false;
  std::thread maker_, poster_;
};

}  // namespace mixwalk
