#include "walker/session/pipe_name.h"

namespace mixwalk {
namespace {

constexpr std::wstring_view kPrefix = L"\\\\.\\pipe\\mixwalk-";
constexpr std::wstring_view kHexDigits = L"0123456789abcdef";

}  // namespace

std::wstring session_pipe_name(std::uint32_t server_process_id,
                               std::span<const unsigned char, kPipeRandomBytes> random) {
  std::wstring name = std::wstring(kPrefix) + std::to_wstring(server_process_id) + L'-';
  for (const unsigned char byte : random) {
    name += kHexDigits[byte >> 4];
    name += kHexDigits[byte & 15];
  }
  return name;
}

std::optional<std::uint32_t> server_of_session_pipe(std::wstring_view name) noexcept {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  // Each id has only one spelling: no sign, no leading zero.
  if (name.empty() || name.front() == L'0') return std::nullopt;
  std::uint64_t id = 0;
  while (!name.empty() && name.front() >= L'0' && name.front() <= L'9') {
    id = id * 10 + static_cast<std::uint64_t>(name.front() - L'0');
    if (id > UINT32_MAX) return std::nullopt;
    name.remove_prefix(1);
  }
  if (id == 0 || !name.starts_with(L'-')) return std::nullopt;
  name.remove_prefix(1);
  if (name.size() != 2 * kPipeRandomBytes) return std::nullopt;
  if (name.find_first_not_of(kHexDigits) != std::wstring_view::npos) return std::nullopt;
  return static_cast<std::uint32_t>(id);
}

}  // namespace mixwalk
