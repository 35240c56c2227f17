#pragma once

#include <memory>

#include "walker/base/byte_sink.h"

namespace mixwalk {

// Compresses into another sink, as a gzip file without name, time and operating system. So the same input gives the
// same bytes on every system.
class GzipSink final : public ByteSink {
 public:
  explicit GzipSink(ByteSink& sink);
  ~GzipSink() override;
  bool write(std::string_view bytes) override;
  // Ends the file; nothing may be written afterwards. Returns false if the sink refused some of the bytes.
  bool finish();

 private:
  struct Stream;
  bool deflate(std::string_view bytes, bool last);

  ByteSink& sink_;
  std::unique_ptr<Stream> stream_;
  bool ok_ = true;
};

}  // namespace mixwalk
