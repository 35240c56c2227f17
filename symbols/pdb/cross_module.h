#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace mixwalk {

// References between the modules of a PDB, as whole-program optimisation (MSVC's /GL) writes them. For a function that
// was inlined from another module, a module does not have the function's number in the IPI stream, but an index into
// the module's own list of imports. The entry there has the number that the other module uses for the function, and the
// other module's list of exports maps that number to the number in the IPI stream. (cvinfo.h of microsoft-pdb:
// CrossScopeId, CrossScopeReferences.)

// Functions and types of one other module.
struct PdbImport {
  std::uint32_t module = 0;               // the module's name: an offset in "/names"
  std::span<const std::byte> references;  // numbers of four bytes
};

// Reads one subsection of a module's C13 information that lists imports. The imports view the subsection.
void read_imports(std::span<const std::byte> subsection, std::vector<PdbImport>& into);
void read_exports(std::span<const std::byte> subsection,
                  std::unordered_map<std::uint32_t, std::uint32_t>& into);
// Returns all exports in a module's C13 information: the module's own number → the number in the IPI stream.
std::unordered_map<std::uint32_t, std::uint32_t> read_all_exports(std::span<const std::byte> c13);

// A function of another module.
struct ForeignFunction {
  std::uint32_t module = 0;  // as in PdbImport
  std::uint32_t number = 0;  // as the other module uses it
};
// Whether a number is an index into the imports.
constexpr bool is_import(std::uint32_t id) noexcept { return (id & 0x8000'0000) != 0; }
// Returns nothing if the imports have no such entry.
std::optional<ForeignFunction> find_import(std::uint32_t id, std::span<const PdbImport> imports) noexcept;

}  // namespace mixwalk
