#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace mixwalk {

// What whole-program optimisation (MSVC's /GL) writes into a PDB. A module identifies functions that were inlined from
// another module not by their number in the IPI stream, but by an index into its list of imports; the entry there has
// the other module's own number for the function; and the other module's list of exports maps that to the number in the
// IPI stream. (cvinfo.h of microsoft-pdb: CrossScopeId, CrossScopeReferences.)

// Functions and types of one other module.
struct PdbImport {
  std::uint32_t module = 0;               // its name, an offset in "/names"
  std::span<const std::byte> references;  // numbers of four bytes
};

// The subsections of a module's C13 information that say so. Views point into them.
void read_imports(std::span<const std::byte> subsection, std::vector<PdbImport>& into);
void read_exports(std::span<const std::byte> subsection,
                  std::unordered_map<std::uint32_t, std::uint32_t>& into);
// All exports in a module's C13 information: the module's own number → that in the IPI stream.
std::unordered_map<std::uint32_t, std::uint32_t> read_all_exports(std::span<const std::byte> c13);

// A function that another module has.
struct ForeignFunction {
  std::uint32_t module = 0;  // as in PdbImport
  std::uint32_t number = 0;  // the module's own
};
// Whether a number is a place in the imports.
constexpr bool is_import(std::uint32_t id) noexcept { return (id & 0x8000'0000) != 0; }
// Nothing where the imports have no such place.
std::optional<ForeignFunction> find_import(std::uint32_t id, std::span<const PdbImport> imports) noexcept;

}  // namespace mixwalk
