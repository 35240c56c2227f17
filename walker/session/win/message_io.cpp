#include "walker/session/win/message_io.h"

namespace mixwalk {

IoResult send_message(PipeIo& pipe, const Message& message, const Deadline& deadline) {
  return send_framed(pipe, encode(message), deadline);
}

IoResult receive_message(PipeIo& pipe, std::optional<Message>& message, const Deadline& deadline) {
  std::optional<std::string> bytes;
  const IoResult result = receive_framed(pipe, bytes, decode_length, deadline);
  message = bytes ? decode(*bytes) : std::nullopt;
  return result;
}

IoResult receive_framed(PipeIo& pipe, std::optional<std::string>& bytes,
                        std::optional<std::size_t> (*length_of)(std::string_view) noexcept, const Deadline& deadline) {
  bytes.reset();
  char length_bytes[kLengthBytes];
  IoResult result = pipe.read(length_bytes, sizeof length_bytes, deadline);
  if (result != IoResult::ok) return result;
  const auto length = length_of({length_bytes, sizeof length_bytes});
  if (!length) return IoResult::ok;
  std::string read(*length, '\0');
  result = pipe.read(read.data(), read.size(), deadline);
  if (result == IoResult::ok) bytes = std::move(read);
  return result;
}

}  // namespace mixwalk
