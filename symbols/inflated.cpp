#include "symbols/inflated.h"

#include <zlib.h>

namespace mixwalk {

bool inflate_into(std::span<const std::byte> packed, Deflated form, std::span<std::byte> into) noexcept {
  if (packed.size() > UINT32_MAX || into.size() > UINT32_MAX) return false;
  z_stream stream{};
  constexpr int kWindow = 15;  // as zlib's default
  if (inflateInit2(&stream, form == Deflated::raw ? -kWindow : kWindow) != Z_OK) return false;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(into.data());
  stream.avail_out = static_cast<uInt>(into.size());
  const int result = inflate(&stream, Z_FINISH);
  const bool whole = result == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd(&stream);
  return whole;
}

}  // namespace mixwalk
