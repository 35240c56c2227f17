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

// A managed assembly as a runtime loaded it: which file it came from, and which build of it.
struct Assembly {
  std::string path;                 // UTF-8; empty: it came from no file
  std::array<std::byte, 16> mvid{};  // the GUID that every build has of its own (ECMA-335 II.22.30)
  // The JIT may optimise the assembly's code, so that an instruction may belong to several lines: nothing in its
  // DebuggableAttribute forbids it.
  bool optimised = true;
  // The id of its portable PDB, from its own CodeView entry; nothing: it names none, or its file was not read.
  std::optional<CodeViewId> pdb = std::nullopt;

  auto operator<=>(const Assembly&) const = default;
};

// The place of an assembly in a list, to which it is added where it is not there.
std::int32_t place_of(const Assembly& assembly, std::vector<Assembly>& among);

// Whether the JIT may optimise an assembly's code, by the value of its DebuggableAttribute (ECMA-335 II.23.3; both of
// its constructors). Where the value is empty, or is no such value, the JIT may optimise.
bool may_be_optimised(std::span<const std::byte> debuggable_attribute) noexcept;

}  // namespace mixwalk
