// Writes the corpora of the fuzz targets of dumps: write_dump_corpus tests/fuzz/corpus

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/builders/dump_samples.h"

int main(int count, char** values) {
  if (count != 2) {
    std::fprintf(stderr, "usage: write_dump_corpus FOLDER\n");
    return 2;
  }
  for (const char* target : {"minidump_fuzz", "outside_walk_fuzz"}) {
    const std::filesystem::path folder = std::filesystem::path(values[1]) / target;
    std::filesystem::create_directories(folder);
    for (const auto& [name, bytes] : mixwalk::test::dump_samples()) {
      std::ofstream out(folder / name, std::ios::binary);
      out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    }
  }
}
