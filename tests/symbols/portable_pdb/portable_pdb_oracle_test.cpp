// Portable PDBs that the C# compiler made, compared with System.Reflection.Metadata (oracle/).
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "symbols/portable_pdb/embedded_pdb.h"
#include "symbols/portable_pdb/portable_pdb.h"

namespace mixwalk {
namespace {

namespace fs = std::filesystem;

std::vector<std::byte> file_bytes(const fs::path& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  std::vector<std::byte> bytes(in ? static_cast<std::size_t>(in.tellg()) : 0);
  in.seekg(0);
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

PortablePdb::Opened open(const fs::path& image) {
  const auto bytes = file_bytes(image);
  const auto entries = debug_directory(bytes);
  auto pdb = embedded_pdb(entries);
  if (!pdb) pdb = file_bytes(fs::path(image).replace_extension(".pdb"));
  return PortablePdb::open(std::move(*pdb), code_view_id(entries, true));
}

struct Result {
  std::size_t images = 0, asked = 0, equal = 0;
  std::string examples;
};

Result compare(const std::string& images) {
  Result result;
  const std::string answers = "portable_pdb_oracle.txt";
  const std::string command = "dotnet '" MIXWALK_ORACLE "/oracle/oracle.dll' " + images + " >" + answers;
  if (std::system(command.c_str()) != 0) {
    result.examples = "failed: " + command;
    return result;
  }
  PortablePdb::Opened opened;
  std::ifstream in(answers);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("image ")) {
      opened = open(line.substr(6));
      ++result.images;
      if (opened.pdb == nullptr) result.examples += line + ": " + std::string(to_string(opened.error)) + '\n';
      continue;
    }
    unsigned method = 0, offset = 0, number = 0;
    int file_at = 0;
    if (std::sscanf(line.c_str(), "%x %u %u %n", &method, &offset, &number, &file_at) != 3) continue;
    ++result.asked;
    const auto ours = opened.pdb == nullptr ? std::nullopt : opened.pdb->find(method, offset);
    const std::optional<ManagedPlace> theirs =
        number == 0 ? std::nullopt
                    : std::optional(ManagedPlace{line.substr(static_cast<std::size_t>(file_at)), number});
    if (ours == theirs) {
      ++result.equal;
    } else if (result.examples.size() < 4000) {
      result.examples +=
          line + ", ours: " + (ours ? ours->file + ':' + std::to_string(ours->line) : "none") + '\n';
    }
  }
  std::printf("%zu images, %zu offsets, %zu equal\n", result.images, result.asked, result.equal);
  return result;
}

TEST(PortablePdbOracleTest, BesideTheImageAndEmbedded) {
  const Result result =
      compare("'" MIXWALK_ORACLE "/oracle/oracle.dll' '" MIXWALK_ORACLE "/sample/sample.dll'");
  EXPECT_EQ(result.images, 2u) << result.examples;
  EXPECT_GT(result.asked, 200u);
  EXPECT_EQ(result.equal, result.asked) << result.examples;
}

// MIXWALK_MANAGED is a folder with DLLs, whose PDBs lie beside them or are embedded.
TEST(PortablePdbOracleTest, ImagesOfTheCaller) {
  const char* const folder = std::getenv("MIXWALK_MANAGED");
  if (folder == nullptr) GTEST_SKIP() << "on request: MIXWALK_MANAGED";
  std::string images;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".dll") images += " '" + entry.path().string() + "'";
  }
  const Result result = compare(images);
  EXPECT_GT(result.images, 0u);
  EXPECT_EQ(result.equal, result.asked) << result.examples;
}

}  // namespace
}  // namespace mixwalk
