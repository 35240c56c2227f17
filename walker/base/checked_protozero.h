#pragma once

#include <stdexcept>

// protozero, for bytes that are not ours: the one place that includes its reading half. MessageBuilder
// writes them.
//
// protozero only asserts that a field has the wire type that is read: in a build with assertions a
// hostile message would end the process, in one without them it would be read as what it is not.
// One place, because inline functions that differ from file to file are merged by the linker.
#define protozero_assert(holds) \
  ((holds) ? static_cast<void>(0) : throw std::invalid_argument("wire type"))
#include <protozero/pbf_message.hpp>

#include "walker/base/message_builder.h"
