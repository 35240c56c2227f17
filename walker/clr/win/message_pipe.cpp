#include "walker/clr/win/message_pipe.h"

#include <algorithm>
#include <string>

namespace mixwalk {
namespace {

constexpr std::size_t kChunk = 64 << 10;

bool read_all(HANDLE pipe, char* into, std::size_t bytes) {
  while (bytes != 0) {
    DWORD done = 0;
    if (!ReadFile(pipe, into, static_cast<DWORD>(std::min(bytes, kChunk)), &done, nullptr) || done == 0) {
      return false;
    }
    into += done;
    bytes -= done;
  }
  return true;
}

}  // namespace

bool send_question(HANDLE pipe, const QuestionMessage& message) {
  const std::string bytes = encode_question(message);
  for (std::size_t at = 0; at < bytes.size();) {
    DWORD done = 0;
    const auto part = static_cast<DWORD>(std::min(bytes.size() - at, kChunk));
    if (!WriteFile(pipe, bytes.data() + at, part, &done, nullptr) || done == 0) return false;
    at += done;
  }
  return true;
}

std::optional<QuestionMessage> receive_question(HANDLE pipe) {
  char length_bytes[4];
  if (!read_all(pipe, length_bytes, sizeof length_bytes)) return std::nullopt;
  const auto length = question_length({length_bytes, sizeof length_bytes});
  if (!length) return std::nullopt;
  std::string bytes(*length, '\0');
  if (!read_all(pipe, bytes.data(), bytes.size())) return std::nullopt;
  return decode_question(bytes);
}

}  // namespace mixwalk
