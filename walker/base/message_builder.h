#pragma once

#include <string>
#include <utility>

#include <protozero/pbf_builder.hpp>

namespace mixwalk {

// A protobuf message that is being written, or a message nested in another one. It is protozero's pbf_builder, but
// throws std::bad_alloc if memory cannot be allocated. Not frozen-safe.
//
// Folklore: the constructor of protozero's pbf_builder (1.7.1) that begins a nested message writes to the buffer. So it
// allocates, although it is declared noexcept. Real case: when the buffer could not grow at that moment,
// std::terminate() ended the program that mixwalk.dll was in. Remedy: a pbf_writer, whose constructor may throw, begins
// the message. Test: starved_test.
template <class Field>
class MessageBuilder : public protozero::pbf_builder<Field> {
 public:
  explicit MessageBuilder(std::string& data) noexcept : protozero::pbf_builder<Field>(data) {}
  template <class OuterField>
  MessageBuilder(protozero::pbf_writer& outer, OuterField field) {
    protozero::pbf_writer begun(outer, static_cast<protozero::pbf_tag_type>(field));
    static_cast<protozero::pbf_writer&>(*this) = std::move(begun);
  }
};

}  // namespace mixwalk
