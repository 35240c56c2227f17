#pragma once

#include "walker/model/snapshot.h"
#include "walker/wire/message_io.h"

namespace mixwalk {

// The message of a thread with its frames and native runs, a part of the protocol (protocol.h). Not frozen-safe.

// When it reads: all indices of the result that refer to its own stack are valid.
void thread_fields(MessageIO& io, Thread& thread);

}  // namespace mixwalk
