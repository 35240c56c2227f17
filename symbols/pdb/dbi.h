#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "symbols/pdb/msf.h"

namespace mixwalk {

// What the linker gave one object file's part of a section.
struct PdbContribution {
  std::uint32_t begin = 0, end = 0;  // RVAs; [begin, end)
  std::uint16_t module = 0;
  bool comdat = false;  // the compiler made a section of its own for it: one function, or data
};

// An object file that the image was linked from.
struct PdbModule {
  std::string name;
  std::uint32_t stream = MsfFile::kNoStream;
  std::uint32_t symbol_bytes = 0;  // at the stream's begin
  std::uint32_t c11_bytes = 0;     // behind them: lines of an old kind
  std::uint32_t c13_bytes = 0;     // behind them: lines
};

// Where the sections of the image lie; symbols name places as section and offset.
class PdbSections {
 public:
  // The RVA of a place; nothing where the section (from 1 on) has no such one.
  std::optional<std::uint32_t> rva(std::uint16_t section, std::uint32_t offset) const noexcept {
    if (section == 0 || section > sections_.size()) return std::nullopt;
    const Section& found = sections_[section - 1u];
    if (offset >= found.bytes) return std::nullopt;
    return found.rva + offset;
  }
  void add(std::uint32_t rva, std::uint32_t bytes) {
    // RVAs of a section never wrap around.
    sections_.push_back({rva, bytes < UINT32_MAX - rva ? bytes : UINT32_MAX - rva});
  }
  bool empty() const noexcept { return sections_.empty(); }

 private:
  struct Section {
    std::uint32_t rva, bytes;
  };
  std::vector<Section> sections_;
};

// The DBI stream: the modules of a PDB, and where the other streams are.
// (https://llvm.org/docs/PDB/DbiStream.html.) Not frozen-safe.
struct PdbDbi {
  // Sections have 16 bits, and images some 20.
  static constexpr std::size_t kMaxSections = 65'535;

  std::uint32_t age = 0;  // what the image's CodeView record says
  std::uint32_t symbol_stream = MsfFile::kNoStream;  // the records of the public symbols
  bool rearranged = false;
  std::vector<PdbModule> modules;
  PdbSections sections;
  std::vector<PdbContribution> contributions;  // in the file's order
};

// Nothing where the stream is missing, cut off, or older than Visual C++ 7.
std::optional<PdbDbi> read_dbi(const MsfFile& msf);

}  // namespace mixwalk
