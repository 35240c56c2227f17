#pragma once

#include <optional>

#include "walker/session/protocol.h"
#include "walker/session/win/pipe_io.h"

namespace mixwalk {

// Whole messages over a pipe, either end.
IoResult send_message(PipeIo& pipe, const Message& message, const Deadline& deadline);
// `message` is empty where the bytes are no message of ours, and for any result but ok.
IoResult receive_message(PipeIo& pipe, std::optional<Message>& message, const Deadline& deadline);

}  // namespace mixwalk
