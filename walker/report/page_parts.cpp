#include "walker/report/page_parts.h"

#include <zlib.h>

#include <new>
#include <numeric>
#include <stdexcept>
#include <string>

#include "walker/report/page_pack.h"

namespace mixwalk::page_parts {
namespace {

std::string unpacked() {
  const auto packed = page_pack::packed();
  const auto sizes = page_pack::sizes();
  std::string text(std::accumulate(sizes.begin(), sizes.end(), std::size_t{0}), '\0');
  z_stream stream{};
  stream.next_in = const_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  constexpr int kGzip = 16;  // to be added to the bits of the window (zlib.h, inflateInit2)
  if (inflateInit2(&stream, kGzip + MAX_WBITS) != Z_OK) throw std::bad_alloc();
  const int end = inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  if (end == Z_MEM_ERROR) throw std::bad_alloc();
  if (end != Z_STREAM_END || stream.avail_out != 0) throw std::runtime_error("the page in this program is damaged");
  return text;
}

// `index`: the part's position in the order in which bundle.py adds the parts.
std::string_view part(std::size_t index) {
  static const std::string all = unpacked();
  const auto sizes = page_pack::sizes();
  const auto before = sizes.first(index);
  const std::size_t begin = std::accumulate(before.begin(), before.end(), std::size_t{0});
  return std::string_view(all).substr(begin, sizes[index]);
}

}  // namespace

std::string_view html() { return part(0); }
std::string_view style() { return part(1); }
std::string_view script() { return part(2); }
std::string_view libraries() { return part(3); }
std::string_view library_style() { return part(4); }

}  // namespace mixwalk::page_parts
