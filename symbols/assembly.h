#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "unmanaged/image/debug_directory.h"

namespace mixwalk {

// A managed assembly as a runtime loaded it: the file from which it was loaded, and which build it is.
struct Assembly {
  std::string path;                 // UTF-8; empty if it was not loaded from a file
  std::array<std::byte, 16> mvid{};  // the GUID that is unique to every build (ECMA-335 II.22.30)
  // The JIT may optimise the assembly's code, because nothing in its DebuggableAttribute forbids that. Then an
  // instruction may belong to several lines.
  bool optimised = true;
  // The id of its portable PDB, from its own CodeView entry; nothing if it names none, or its file was not read.
  std::optional<CodeViewId> pdb = std::nullopt;
  std::vector<PdbChecksum> pdb_checksums = {};  // of that PDB; in no file and on no pipe

  auto operator<=>(const Assembly&) const = default;
};

// Returns the index of an assembly in a list. The assembly is added if it is not in the list.
std::int32_t place_of(const Assembly& assembly, std::vector<Assembly>& among);

// Whether the JIT may optimise an assembly's code, by the value of its DebuggableAttribute (ECMA-335 II.23.3; both of
// its constructors). If the value is empty, or is not a value of that attribute, the JIT may optimise.
bool may_be_optimised(std::span<const std::byte> debuggable_attribute) noexcept;

}  // namespace mixwalk
