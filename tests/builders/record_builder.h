#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mixwalk {

// Makes the bytes of .mixwalk files without the sources under test: fields by their number, as in docs/mixwalk.proto.
// Content is the part between a record's length and its checksum.

// Returns "\n\7mixwalk".
std::string file_magic();
// Returns a record with its right checksum.
std::string sealed(std::uint32_t field, const std::string& content);
// Return fields of a content.
std::string number_field(std::uint32_t field, std::uint64_t value);
std::string bytes_field(std::uint32_t field, std::string_view bytes);
// Returns numbers one after the other, as in a packed column.
std::string packed(std::initializer_list<std::uint64_t> values);

// Returns the same bytes with every record's checksum corrected, as far as the bytes are records. So a fuzzer, or a
// test that changes a byte, gets past the checksums.
std::string resealed(std::string_view file);

}  // namespace mixwalk
