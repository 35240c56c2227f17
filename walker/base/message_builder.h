#pragma once

#include <string>
#include <utility>

#include <protozero/pbf_builder.hpp>

namespace mixwalk {

// A protobuf message that is being written, or one inside another: protozero's pbf_builder, which
// throws std::bad_alloc where it finds no memory. Not frozen-safe.
//
// Folklore: the constructor of protozero's pbf_builder (1.7.1) that begins a message inside another
// one writes to the buffer, so it allocates; and it is declared noexcept. Where the buffer could not
// grow just there, std::terminate() ended the program that mixwalk.dll was in. Remedy: the message is
// begun by a pbf_writer, whose constructor may throw. Test: starved_test.
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
