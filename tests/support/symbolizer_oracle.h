#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "unmanaged/image/pe_image.h"

namespace mixwalk::test {

// What llvm-symbolizer says about addresses. Needs a host with a shell: for tests that run natively.
struct OracleFrame {
  std::string function;  // mangled; empty: unknown
  std::string file;      // empty: unknown
  std::uint32_t line = 0;
  bool operator==(const OracleFrame&) const = default;
};
using OracleChain = std::vector<OracleFrame>;  // innermost first, at least one frame

// One chain per address. `addresses`: as linked (image base + RVA). `problem`: not empty if the tool is missing or
// failed.
std::vector<OracleChain> ask_llvm_symbolizer(const std::string& path,
                                             const std::vector<std::uint64_t>& addresses,
                                             std::string& problem);

// Like the function above, for RVAs: with the plain names from the functions' own records in a PDB, or with those of
// the public symbols at the functions' begins. A function without a name has an empty one.
enum class OracleNames { plain, decorated };
std::vector<OracleChain> ask_llvm_symbolizer(const std::string& path, const std::vector<std::uint32_t>& rvas,
                                             OracleNames names, std::string& problem);

// llvm-undname's form of MSVC's names: without access, return type and calling convention of the function itself.
// Empty: it refuses the name.
std::vector<std::string> ask_llvm_undname(const std::vector<std::string>& names, std::string& problem);

// The RVA of every instruction, by objdump, that lies in a function of .pdata: padding between functions is left out.
// Sorted.
std::vector<std::uint32_t> instructions(const std::string& path, const PeImage& image,
                                        std::uint64_t image_base, std::string& problem);

// As many addresses in functions of .pdata, at any byte, at random, always the same ones.
std::vector<std::uint32_t> addresses_in_functions(const PeImage& image, std::size_t count);

}  // namespace mixwalk::test
