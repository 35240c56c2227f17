#include "walker/profiler/pipe_end.h"

namespace mixwalk {

bool PipeEnd::connect(const std::wstring& name) {
  if (!name.starts_with(kPrefix)) return false;
  // The server may know who we are, and must not act as us.
  constexpr DWORD kFlags = SECURITY_SQOS_PRESENT | SECURITY_IDENTIFICATION;
  pipe_ = UniqueHandle(CreateFileW(name.c_str(), GENERIC_READ | GENERIC_WRITE, 0, nullptr,
                                   OPEN_EXISTING, kFlags, nullptr));
  return static_cast<bool>(pipe_);
}

bool PipeEnd::send(const Message& message) {
  const std::string bytes = encode(message);
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    DWORD written = 0;
    if (!WriteFile(pipe_.get(), bytes.data() + sent, static_cast<DWORD>(bytes.size() - sent),
                   &written, nullptr) ||
        written == 0) {
      return false;
    }
    sent += written;
  }
  return true;
}

std::optional<Message> PipeEnd::receive() {
  char length_bytes[kLengthBytes];
  if (!read_exactly(length_bytes, sizeof length_bytes)) return std::nullopt;
  const auto length = decode_length({length_bytes, sizeof length_bytes});
  if (!length) return std::nullopt;
  std::string bytes(*length, '\0');
  if (!read_exactly(bytes.data(), bytes.size())) return std::nullopt;
  return decode(bytes);
}

bool PipeEnd::read_exactly(char* into, std::size_t bytes) {
  std::size_t done = 0;
  while (done < bytes) {
    DWORD read = 0;
    if (!ReadFile(pipe_.get(), into + done, static_cast<DWORD>(bytes - done), &read, nullptr) ||
        read == 0) {
      return false;
    }
    done += read;
  }
  return true;
}

}  // namespace mixwalk
