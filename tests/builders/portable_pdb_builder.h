#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/builders/byte_writer.h"

namespace mixwalk::test {

// Writes portable PDBs from the format's description. The id is 16 bytes `guid` and ImageBuilder's timestamp, as in
// ImageBuilder::code_view().
class PortablePdbBuilder {
 public:
  std::uint8_t guid = 7;

  // Returns the blob's index.
  std::uint32_t blob(const std::vector<std::byte>& bytes);
  // Adds a document with its name in parts. Returns its row.
  std::uint32_t document(char separator, const std::vector<std::string>& parts);
  // Adds the next method, from row 1 on; if `points` is 0, it has no sequence points.
  void method(std::uint32_t document, std::uint32_t points);
  // Adds the awaits of a method, by its row: the value of its async method stepping information.
  void awaits(std::uint32_t method, const std::vector<std::byte>& value);
  // Adds the module's Source Link.
  void source_link(const std::string& json);

  std::vector<std::byte> build() const;

 private:
  ByteWriter blobs_ = ByteWriter().u8(0);
  ByteWriter documents_, methods_;
  std::uint32_t document_count_ = 0, method_count_ = 0, source_link_ = 0, awaiting_method_ = 0, awaits_ = 0;
};

// Method 1 has /src/app/Main.cs:10 at IL 0, hidden code at 5, C:\Other.cs:12 at 7, and :11 at 9. Method 2 has no
// sequence points.
PortablePdbBuilder sample_portable_pdb();

}  // namespace mixwalk::test
