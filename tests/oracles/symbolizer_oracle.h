#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "unmanaged/image/pe_image.h"

namespace mixwalk::test {

// What llvm-symbolizer says about addresses. It needs a host with a shell, so only tests that run natively use it.
struct OracleFrame {
  std::string function;  // mangled; empty if unknown
  std::string file;      // empty if unknown
  std::uint32_t line = 0;
  bool operator==(const OracleFrame&) const = default;
};
using OracleChain = std::vector<OracleFrame>;  // innermost first, at least one frame

// Returns one chain per address. `addresses` are as linked (image base + RVA). `problem` is not empty if the tool is
// missing or failed.
std::vector<OracleChain> ask_llvm_symbolizer(const std::string& path,
                                             const std::vector<std::uint64_t>& addresses,
                                             std::string& problem);

// Like the function above, for RVAs: either with the plain names from the functions' own records in a PDB, or with the
// names of the public symbols at the functions' begins. A function without a name has an empty one.
enum class OracleNames { plain, decorated };
std::vector<OracleChain> ask_llvm_symbolizer(const std::string& path, const std::vector<std::uint32_t>& rvas,
                                             OracleNames names, std::string& problem);

// Returns llvm-undname's form of MSVC's names: without access, and if it is not to be the whole text, also without the
// return type and the calling convention of the function itself. A name that llvm-undname refuses becomes empty.
std::vector<std::string> ask_llvm_undname(const std::vector<std::string>& names, bool whole, std::string& problem);

// Returns the names as LLVM's or the binutils' tool demangles them; a name that the tool refuses stays as it is.
enum class Filter { llvm_cxxfilt, binutils_cxxfilt };
std::vector<std::string> ask_filter(Filter filter, const std::vector<std::string>& names, std::string& problem);

// Returns the mangled names of a program or an object file, each once: those that begin with "_Z", or with "?".
std::vector<std::string> mangled_names_in(const std::string& path, std::string& problem,
                                          std::string_view begin = "_Z");

// Returns the RVA of every instruction, by objdump, that lies in a function of .pdata; padding between functions is
// left out. Sorted.
std::vector<std::uint32_t> instructions(const std::string& path, const PeImage& image,
                                        std::uint64_t image_base, std::string& problem);

// Returns `count` random addresses in functions of .pdata, at any byte; they are the same ones each time.
std::vector<std::uint32_t> addresses_in_functions(const PeImage& image, std::size_t count);

}  // namespace mixwalk::test
