#pragma once

#include "walker/export/exporter.h"

namespace mixwalk {

// A sink before another one, for writers of small pieces. Once the other one has refused, nothing
// more is taken and flush() says so; writers need not look at every write.
class BufferedSink final : public ByteSink {
 public:
  explicit BufferedSink(ByteSink& sink) : sink_(sink) {}

  bool write(std::string_view bytes) override {
    if (!refused_) buffer_.append(bytes);
    return buffer_.size() < kBytes || flush();
  }
  // False: something that was written has been lost.
  bool flush() {
    if (!refused_ && !buffer_.empty()) refused_ = !sink_.write(buffer_);
    buffer_.clear();
    return !refused_;
  }

 private:
  // More does not make it faster; less costs a call of the system each few frames.
  static constexpr std::size_t kBytes = 1 << 16;

  ByteSink& sink_;
  std::string buffer_;
  bool refused_ = false;
};

}  // namespace mixwalk
