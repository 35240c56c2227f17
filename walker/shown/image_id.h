#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "symbols/image_files.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// The id by which symbol servers find exactly this image: its timestamp in eight upper-case hexadecimal digits,
// directly followed by SizeOfImage in lower-case ones. Returns an empty text if neither is known.
std::string code_id(const Module& module);

// The id by which debuggers and symbol servers find the image's PDB: the GUID and the age of its CodeView entry, see
// symbol_store_id(). GNU ld writes such an entry, too. Returns an empty text if no id is known.
std::string debug_id(const Module& module);

// The file name of the PDB that the image names, and its path as the linker wrote it; empty if none is known.
std::string pdb_name(const Module& module);
std::string pdb_path(const Module& module);

// OpenTelemetry's build id of any file, `process.executable.build_id.htlhash`: the first half of the SHA-256 of the
// file's first and last 4096 bytes and its length, in lower-case hexadecimal digits.
std::string htlhash(std::span<const std::byte> file);

// The build id of an image that was loaded. Returns nothing if its file cannot be read, or is a different image.
std::optional<std::string> htlhash(const Module& module, ImageFiles& files);

}  // namespace mixwalk
