#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace mixwalk::test {

// What binutils (objdump -p, nm) say about an image: the truth with which our own parsing is compared. It needs a host
// with a shell, so only tests that run natively use it.
struct OracleImage {
  struct Export {
    std::uint32_t rva = 0;
    std::string forwarder;
    bool operator==(const Export&) const = default;
  };
  std::map<std::uint32_t, Export> exports;                         // by ordinal
  std::set<std::pair<std::string, std::uint32_t>> names;           // name, ordinal
  std::vector<std::pair<std::uint32_t, std::uint32_t>> functions;  // .pdata: begin, end
  std::map<std::uint32_t, std::set<std::string>> code_symbols;     // RVA → names
  std::string problem;  // if not empty, a tool or the file is missing, or says nothing, and the test fails
};
OracleImage ask_binutils(const std::string& path);

// Returns the path of one of Wine's own DLLs: real images by other authors. The path is empty if the DLL was not found
// when the build was configured.
std::string wine_dll(const std::string& name);
std::vector<std::byte> read_file(const std::string& path);

// The DLLs on which the tests run. A .NET process loads all of them.
extern const std::vector<std::string> kWineDlls;

}  // namespace mixwalk::test
