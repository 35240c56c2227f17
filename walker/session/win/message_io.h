#pragma once

#include <optional>

#include "walker/session/protocol.h"
#include "walker/session/win/pipe_io.h"

namespace mixwalk {

// Sends or receives whole messages, at either end of a pipe.
IoResult send_message(PipeIo& pipe, const Message& message, const Deadline& deadline);
// `message` is empty for any result except ok, and if the bytes are not one of our messages.
IoResult receive_message(PipeIo& pipe, std::optional<Message>& message, const Deadline& deadline);

}  // namespace mixwalk
