#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "symbols/image_files.h"
#include "walker/model/snapshot.h"

namespace mixwalk {

// By what symbol servers find the very image: its timestamp in eight upper-case hexadecimal
// digits, and right behind them SizeOfImage in lower-case ones. Empty: neither is known.
std::string code_id(const Module& module);

// By what debuggers and symbol servers find its PDB: the GUID and the age of its CodeView entry, see
// symbol_store_id(); also where GNU ld wrote that entry. Empty: none is known.
std::string debug_id(const Module& module);

// The file name of the PDB that the image names, and its path as the linker wrote it; empty: none is known.
std::string pdb_name(const Module& module);
std::string pdb_path(const Module& module);

// OpenTelemetry's build id of any file, `process.executable.build_id.htlhash`: half of the SHA-256
// of its two ends, 4096 bytes each, and its length; lower-case hexadecimal digits.
std::string htlhash(std::span<const std::byte> file);

// The same of the image that was loaded; nothing where its file cannot be read or is another one.
std::optional<std::string> htlhash(const Module& module, ImageFiles& files);

}  // namespace mixwalk
