#include "unmanaged/minidump/file_kind.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace mixwalk {
namespace {

using namespace std::string_view_literals;

struct Beginning {
  std::string_view bytes;
  MinidumpError kind;
};
constexpr Beginning kBeginnings[] = {
    {"PAGEDU64"sv, MinidumpError::kernel_dump}, {"PAGEDUMP"sv, MinidumpError::kernel_dump},
    {"PK\x03\x04"sv, MinidumpError::archive},   {"PK\x05\x06"sv, MinidumpError::archive},
    {"\x1F\x8B"sv, MinidumpError::archive},     {"7z\xBC\xAF\x27\x1C"sv, MinidumpError::archive},
    {"MSCF"sv, MinidumpError::archive},         {"\x7F" "ELF"sv, MinidumpError::elf_core},
};

constexpr std::string_view kSignature = "MDMP\x93\xA7"sv;  // MINIDUMP_VERSION follows; only its low half counts

bool is_text(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) {
    return (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F) || c == '\t' || c == '\n' || c == '\r';
  });
}

}  // namespace

MinidumpError file_kind(std::span<const std::byte> file) noexcept {
  constexpr std::size_t kLooked = 512;
  const std::string_view text(reinterpret_cast<const char*>(file.data()), std::min(file.size(), kLooked));
  if (text.empty()) return MinidumpError::empty;
  if (text.starts_with(kSignature)) return MinidumpError::none;
  if (kSignature.starts_with(text)) return MinidumpError::truncated;
  for (const Beginning& known : kBeginnings) {
    if (text.starts_with(known.bytes)) return known.kind;
  }
  return is_text(text) ? MinidumpError::text : MinidumpError::not_a_minidump;
}

}  // namespace mixwalk
