#pragma once

#include "walker/base/byte_sink.h"

namespace mixwalk {

// A sink that accepts a number of writes and refuses all further ones, like a full disk.
class FullSink final : public ByteSink {
 public:
  explicit FullSink(int takes = 0) : takes_(takes) {}
  bool write(std::string_view) override { return takes_-- > 0; }

 private:
  int takes_;
};

}  // namespace mixwalk
