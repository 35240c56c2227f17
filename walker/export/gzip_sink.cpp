#include "walker/export/gzip_sink.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>

namespace mixwalk {
namespace {

// These values are zlib's: the largest window, and 16 more for a gzip header instead of zlib's own.
constexpr int kGzipWindowBits = 15 + 16;
constexpr int kDefaultMemory = 8;
constexpr int kUnknownSystem = 255;  // RFC 1952

}  // namespace

struct GzipSink::Stream {
  z_stream z = {};
  gz_header header = {};
  std::array<char, 1 << 16> out;
};

GzipSink::GzipSink(ByteSink& sink) : sink_(sink), stream_(std::make_unique<Stream>()) {
  if (deflateInit2(&stream_->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindowBits, kDefaultMemory,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();  // missing memory is the only possible reason
  }
  stream_->header.os = kUnknownSystem;
  deflateSetHeader(&stream_->z, &stream_->header);
}

GzipSink::~GzipSink() { deflateEnd(&stream_->z); }

bool GzipSink::write(std::string_view bytes) {
  constexpr std::size_t kMax = std::numeric_limits<uInt>::max();
  while (ok_ && !bytes.empty()) {
    const std::size_t size = std::min(bytes.size(), kMax);
    ok_ = deflate(bytes.substr(0, size), false);
    bytes.remove_prefix(size);
  }
  return ok_;
}

bool GzipSink::finish() { return ok_ && (ok_ = deflate({}, true)); }

bool GzipSink::deflate(std::string_view bytes, bool last) {
  z_stream& z = stream_->z;
  // zlib does not write to its input.
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  do {
    z.next_out = reinterpret_cast<Bytef*>(stream_->out.data());
    z.avail_out = static_cast<uInt>(stream_->out.size());
    ::deflate(&z, last ? Z_FINISH : Z_NO_FLUSH);
    const std::size_t made = stream_->out.size() - z.avail_out;
    if (made != 0 && !sink_.write({stream_->out.data(), made})) return false;
  } while (z.avail_out == 0);
  return true;
}

}  // namespace mixwalk
