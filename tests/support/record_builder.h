#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mixwalk {

// The bytes of .mixwalk files, made without the sources under test: fields by their number, as in docs/mixwalk.proto.
// Content is the part between a record's length and its checksum.

// "\n\7mixwalk".
std::string file_magic();
// A record with its right checksum.
std::string sealed(std::uint32_t field, const std::string& content);
// Fields of a content.
std::string number_field(std::uint32_t field, std::uint64_t value);
std::string bytes_field(std::uint32_t field, std::string_view bytes);
// Numbers one after the other: what a packed column holds.
std::string packed(std::initializer_list<std::uint64_t> values);

// The same bytes with every record's checksum corrected, as far as they are records: so that a fuzzer, or a test that
// changes a byte, gets past the checksums.
std::string resealed(std::string_view file);

}  // namespace mixwalk
