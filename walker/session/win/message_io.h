#pragma once

#include <optional>
#include <string>

#include "walker/session/protocol.h"
#include "walker/session/win/pipe_io.h"

namespace mixwalk {

// Sends or receives whole messages, at either end of a pipe. Not frozen-safe.
IoResult send_message(PipeIo& pipe, const Message& message, const Deadline& deadline);
// `message` is empty for any result except ok, and if the bytes are not one of our messages.
IoResult receive_message(PipeIo& pipe, std::optional<Message>& message, const Deadline& deadline);

// The same for the bytes of any message, which follow on their length in kLengthBytes bytes. `framed` begins with it.
inline IoResult send_framed(PipeIo& pipe, const std::string& framed, const Deadline& deadline) {
  return pipe.write(framed.data(), framed.size(), deadline);
}
// `bytes` is empty for any result except ok, and if `length_of` accepts no such length.
IoResult receive_framed(PipeIo& pipe, std::optional<std::string>& bytes,
                        std::optional<std::size_t> (*length_of)(std::string_view) noexcept, const Deadline& deadline);

}  // namespace mixwalk
