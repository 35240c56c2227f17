#pragma once

#include <windows.h>

#include <optional>

#include "walker/clr/question_messages.h"

namespace mixwalk {

// Sends and receives whole messages over a pair of anonymous pipes, at either end. A call waits until the other end has
// read or written, but ends at the latest when the other process ends. The functions return false or nothing if the
// pipe is closed, or if the received bytes are not a message.
bool send_question(HANDLE pipe, const QuestionMessage& message);
std::optional<QuestionMessage> receive_question(HANDLE pipe);

}  // namespace mixwalk
