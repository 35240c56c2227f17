#pragma once

#include <windows.h>

#include <optional>

#include "walker/outside/question_messages.h"

namespace mixwalk {

// Whole messages over a pair of anonymous pipes, either end. A call waits as long as the other end takes: what
// bounds it is the end of the other process. False, or nothing: the pipe is closed, or what came is no message.
bool send_question(HANDLE pipe, const QuestionMessage& message);
std::optional<QuestionMessage> receive_question(HANDLE pipe);

}  // namespace mixwalk
