#include "walker/session/win/message_io.h"

namespace mixwalk {

IoResult send_message(PipeIo& pipe, const Message& message, const Deadline& deadline) {
  const std::string bytes = encode(message);
  return pipe.write(bytes.data(), bytes.size(), deadline);
}

IoResult receive_message(PipeIo& pipe, std::optional<Message>& message, const Deadline& deadline) {
  message.reset();
  char length_bytes[kLengthBytes];
  IoResult result = pipe.read(length_bytes, sizeof length_bytes, deadline);
  if (result != IoResult::ok) return result;
  const auto length = decode_length({length_bytes, sizeof length_bytes});
  if (!length) return IoResult::ok;
  std::string bytes(*length, '\0');
  result = pipe.read(bytes.data(), bytes.size(), deadline);
  if (result == IoResult::ok) message = decode(bytes);
  return result;
}

}  // namespace mixwalk
