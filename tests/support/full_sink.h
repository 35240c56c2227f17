#pragma once

#include "walker/export/exporter.h"

namespace mixwalk {

// A sink that takes so many writes and refuses the rest, as a disk that is full.
class FullSink final : public ByteSink {
 public:
  explicit FullSink(int takes = 0) : takes_(takes) {}
  bool write(std::string_view) override { return takes_-- > 0; }

 private:
  int takes_;
};

}  // namespace mixwalk
