// Prints the names that open_pdb() finds: a tool for measurements, and for comparing by hand.
// usage: pdb_names IMAGE PDB [--all | --folded | --count N]
// Reads RVAs (hexadecimal) from stdin, one per line. For each, prints its frames, innermost first, as
// "NAME\nFILE:LINE\n", and an empty line. --all reads all modules first. --folded prints only how many functions share
// the code. --count looks the addresses up N times, and prints only how long that took.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "symbols/pdb/pdb_symbols.h"
#include "tests/support/lazy_index_peer.h"
#include "tests/symbols/pdb/pdb_files.h"

using namespace mixwalk;

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  std::vector<std::uint32_t> addresses;
  for (std::string line; std::getline(std::cin, line);) {
    addresses.push_back(static_cast<std::uint32_t>(std::strtoul(line.c_str(), nullptr, 16)));
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto milliseconds = [&] {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  };
  const auto image = test::read_image(argv[1]);
  OpenedPdb opened = open_pdb(test::read_pdb(argv[2]), image);
  if (opened.index == nullptr) {
    std::fprintf(stderr, "no symbols: %s\n", std::string(to_string(opened.error)).c_str());
    return 1;
  }
  std::fprintf(stderr, "opened after %.1f ms\n", milliseconds());
  if (argc == 4 && std::strcmp(argv[3], "--all") == 0) {
    LazyIndexTestPeer::read_all(*opened.index);
    std::fprintf(stderr, "all %zu units after %.1f ms, %zu bytes\n", LazyIndexTestPeer::units_read(*opened.index),
                 milliseconds(), opened.index->bytes());
  }
  SourceLocation found;
  if (argc == 5 && std::strcmp(argv[3], "--count") == 0) {
    std::size_t frames = 0;
    std::string text;  // the text that would be printed; making it is included because other tools do the same
    const std::size_t count = std::strtoul(argv[4], nullptr, 10);
    for (std::size_t i = 0; i < count; ++i) {
      if (!opened.index->find(addresses[i % addresses.size()], found)) continue;
      frames += found.frames.size();
      if (text.size() > 65'536) text.clear();
      for (const SourceFrame& frame : found.frames) {
        ((((text += frame.name) += '\n') += frame.file) += ':') += std::to_string(frame.line) += '\n';
      }
    }
    std::fprintf(stderr, "%zu look-ups, %zu frames after %.1f ms, %zu bytes\n", count, frames,
                 milliseconds(), opened.index->bytes());
    return 0;
  }
  if (argc == 4 && std::strcmp(argv[3], "--folded") == 0) {
    for (const std::uint32_t rva : addresses) {
      std::printf("%u\n", opened.index->find(rva, found) ? found.folded : 0);
    }
    return 0;
  }
  for (const std::uint32_t rva : addresses) {
    if (!opened.index->find(rva, found)) std::puts("??\n??:0");
    else
      for (const SourceFrame& frame : found.frames) {
        const std::string_view name = frame.name.empty() ? "??" : frame.name;
        std::printf("%.*s\n%.*s:%u\n", static_cast<int>(name.size()), name.data(),
                    static_cast<int>(frame.file.size()), frame.file.data(), frame.line);
      }
    std::puts("");
  }
}
