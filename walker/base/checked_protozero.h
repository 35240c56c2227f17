#pragma once

#include <stdexcept>

// The only file that includes protozero's reader, which reads untrusted bytes. MessageBuilder writes messages.
//
// protozero only asserts that a field has the wire type as which it is read. In a build with assertions, a hostile
// message would end the process; in a build without them, the field would be read as a type that it does not have. Only
// one file may include the reader, because the linker merges inline functions that differ from file to file.
#define protozero_assert(holds) \
  ((holds) ? static_cast<void>(0) : throw std::invalid_argument("wire type"))
#include <protozero/pbf_message.hpp>

#include "walker/base/message_builder.h"
