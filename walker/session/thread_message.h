#pragma once

#include "walker/base/checked_protozero.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// The message of a thread with its frames and native runs, a part of the protocol (protocol.h). Not frozen-safe.

// Adds the message to `outer`, as its field `field`. Throws std::bad_alloc.
void put_thread(protozero::pbf_writer& outer, protozero::pbf_tag_type field, const Thread& thread);

// Throws std::exception if `bytes` are not the message of a thread. All indices of the result that refer to its own
// stack are valid.
Thread get_thread(protozero::data_view bytes);

}  // namespace mixwalk
