#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mixwalk::test {

// What llvm-symbolizer says of addresses. Needs a host with a shell: for tests that run natively.
struct OracleFrame {
  std::string name;  // empty: unknown
  std::string file;  // empty: unknown
  std::uint32_t line = 0;
  bool operator==(const OracleFrame&) const = default;
};
using OracleChain = std::vector<OracleFrame>;  // innermost first

enum class OracleNames {
  plain,      // of the function's own record
  decorated,  // of the public symbol, if there is one at the function's begin
};

// One chain an RVA. Empty: the tool is missing, or failed; `problem` then says so.
std::vector<OracleChain> ask_symbolizer(const std::string& image, const std::vector<std::uint32_t>& rvas,
                                        OracleNames names, std::string& problem);

}  // namespace mixwalk::test
