#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace mixwalk::test {

// What binutils (objdump -p, nm) say about an image: the truth with which our own parsing is compared. Needs a host
// with a shell: for tests that run natively.
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
  std::string problem;  // not empty: a tool or the file is missing, or says nothing; the test fails
};
OracleImage ask_binutils(const std::string& path);

// Real images by other authors: Wine's own DLLs. Empty: not found when this was configured.
std::string wine_dll(const std::string& name);
std::vector<std::byte> read_file(const std::string& path);

// The DLLs that the tests look at: what a .NET process loads.
extern const std::vector<std::string> kWineDlls;

}  // namespace mixwalk::test
