// Writes the corpora of the fuzz targets of dumps: write_dump_corpus tests/fuzz/corpus

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/builders/dump_samples.h"
#include "tests/builders/function_table_list.h"

namespace {

using mixwalk::test::FunctionTableList;

void write(const std::filesystem::path& folder, const std::string& name, const std::vector<std::byte>& bytes) {
  std::filesystem::create_directories(folder);
  std::ofstream out(folder / name, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

// A list of one table of each kind, for the same code, with its entries behind it.
std::vector<std::byte> function_tables() {
  constexpr std::uint64_t kEntries = FunctionTableList::kNodes + 0x400, kCode = 0x7000'0000;
  FunctionTableList list;
  for (const std::uint32_t kind : {FunctionTableList::kCallback, FunctionTableList::kUnsorted,
                                   FunctionTableList::kSorted, FunctionTableList::kGrowable}) {
    list.add({kEntries, kCode, kCode + 0xFFF, kCode, kind, 3});
  }
  std::vector<std::byte> bytes = list.nodes();
  const auto entries = FunctionTableList::entries({0, 0x40, 0x900, 0x40, 0x80, 0x910, 0x80, 0x1000, 0x920});
  bytes.insert(bytes.end(), entries.begin(), entries.end());
  return bytes;
}

// The exception that crash_fuzz.cpp reads, and the stack at its Rsp, with the fault.
std::vector<std::byte> raised_anew() {
  constexpr std::uint64_t kStack = 0x20'0000;
  mixwalk::test::ByteWriter bytes;
  bytes.u32(0xC0000005).u32(0).u64(0x1234).u64(0x5678).u64(kStack).u64(kStack).u64(kStack).u64(0x100).u64(0);
  std::vector<std::byte> input = bytes.bytes();
  const auto fault = mixwalk::test::DispatchedFault{.rsp = kStack + 0x5A0}.bytes();
  input.insert(input.end(), fault.begin(), fault.end());
  input.resize(input.size() + 0x20);
  return input;
}

}  // namespace

int main(int count, char** values) {
  if (count != 2) {
    std::fprintf(stderr, "usage: write_dump_corpus FOLDER\n");
    return 2;
  }
  for (const char* target : {"minidump_fuzz", "outside_walk_fuzz"}) {
    for (const auto& [name, bytes] : mixwalk::test::dump_samples()) {
      write(std::filesystem::path(values[1]) / target, name, bytes);
    }
  }
  write(std::filesystem::path(values[1]) / "function_tables_fuzz", "four_kinds", function_tables());
  write(std::filesystem::path(values[1]) / "crash_fuzz", "raised_anew", raised_anew());
}
