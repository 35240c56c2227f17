#pragma once

#include "walker/base/checked_protozero.h"
#include "walker/session/protocol.h"

namespace mixwalk {

// The messages that ask for a dump and for a recording, a part of the protocol (protocol.h). Not frozen-safe.

// These add the message to `outer`, as its field `field`. They throw std::bad_alloc.
void put_request(protozero::pbf_writer& outer, protozero::pbf_tag_type field, const DumpRequest& request);
void put_request(protozero::pbf_writer& outer, protozero::pbf_tag_type field, const RecordRequest& request);

// These throw std::exception if `bytes` are not such a message, or exceed the limits of protocol.h.
DumpRequest get_dump_request(protozero::data_view bytes);
RecordRequest get_record_request(protozero::data_view bytes);

}  // namespace mixwalk
