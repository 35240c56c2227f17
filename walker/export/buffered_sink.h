#pragma once

#include "walker/base/byte_sink.h"

namespace mixwalk {

// Buffers small writes before another sink. Once the other sink has refused a write, no more bytes are taken, and
// flush() returns false, so the callers of write() need not check every write.
class BufferedSink final : public ByteSink {
 public:
  explicit BufferedSink(ByteSink& sink) : sink_(sink) {}

  bool write(std::string_view bytes) override {
    if (!refused_) buffer_.append(bytes);
    return buffer_.size() < kBytes || flush();
  }
  // Returns false if bytes that were written have been lost.
  bool flush() {
    if (!refused_ && !buffer_.empty()) refused_ = !sink_.write(buffer_);
    buffer_.clear();
    return !refused_;
  }

 private:
  // A larger buffer is not faster; a smaller one costs a system call every few frames.
  static constexpr std::size_t kBytes = 1 << 16;

  ByteSink& sink_;
  std::string buffer_;
  bool refused_ = false;
};

}  // namespace mixwalk
