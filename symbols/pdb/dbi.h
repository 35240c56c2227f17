#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "symbols/pdb/msf.h"

namespace mixwalk {

// A part of a section that comes from one object file.
struct PdbContribution {
  std::uint32_t begin = 0, end = 0;  // RVAs; [begin, end)
  std::uint16_t module = 0;
  bool comdat = false;  // the compiler made a separate section for it, with one function, or with data
};

// One of the object files from which the image was linked.
struct PdbModule {
  std::string name;
  std::uint32_t stream = MsfFile::kNoStream;
  std::uint32_t symbol_bytes = 0;  // at the stream's start
  std::uint32_t c11_bytes = 0;     // behind the symbols: lines in an old format
  std::uint32_t c13_bytes = 0;     // behind the C11 lines: lines
};

// The places of the image's sections. Symbols give places as section and offset.
class PdbSections {
 public:
  // Returns the RVA of a place; nothing if the section (numbered from 1) does not contain it.
  std::optional<std::uint32_t> rva(std::uint16_t section, std::uint32_t offset) const noexcept {
    if (section == 0 || section > sections_.size()) return std::nullopt;
    const Section& found = sections_[section - 1u];
    if (offset >= found.bytes) return std::nullopt;
    return found.rva + offset;
  }
  // Whether the section, numbered from 1, has code.
  bool executable(std::uint16_t section) const noexcept {
    return section != 0 && section <= sections_.size() && sections_[section - 1u].executable;
  }
  void add(std::uint32_t rva, std::uint32_t bytes, bool executable) {
    // The RVAs of a section must not wrap around.
    sections_.push_back({rva, bytes < UINT32_MAX - rva ? bytes : UINT32_MAX - rva, executable});
  }
  bool empty() const noexcept { return sections_.empty(); }

 private:
  struct Section {
    std::uint32_t rva, bytes;
    bool executable;
  };
  std::vector<Section> sections_;
};

// Where the code of the link lies in an image that was rearranged after the link (OMAP). Places in the PDB are those of
// the link. (The entries of "OMAP_FROM_SRC", as microsoft-pdb's pdb.h has them: an RVA of the link, and the RVA in the
// image, 0 if the code was left out.)
class PdbRearrangement {
 public:
  void add(std::uint32_t from, std::uint32_t to) { rows_.push_back({from, to}); }
  void sort();
  bool empty() const noexcept { return rows_.empty(); }
  // Returns the RVA in the image for one of the link; nothing if the code was left out.
  std::optional<std::uint32_t> rva(std::uint32_t of_link) const noexcept;

 private:
  struct Row {
    std::uint32_t from, to;
  };
  std::vector<Row> rows_;
};

// The DBI stream: the modules of a PDB, and the numbers of the other streams.
// (https://llvm.org/docs/PDB/DbiStream.html.) Not frozen-safe.
struct PdbDbi {
  // Section numbers have 16 bits; images have some 20 sections.
  static constexpr std::size_t kMaxSections = 65'535;

  std::uint32_t age = 0;  // equals the age in the image's CodeView record
  std::uint32_t symbol_stream = MsfFile::kNoStream;  // the records of the public symbols
  // Not empty if the image was rearranged. Then there are no modules and contributions, since only the places of public
  // symbols are translated, and `sections` are those of the link.
  PdbRearrangement rearranged;
  std::vector<PdbModule> modules;
  PdbSections sections;
  std::vector<PdbContribution> contributions;  // in the file's order
};

// Returns nothing if the stream is missing, cut off, or older than Visual C++ 7.
std::optional<PdbDbi> read_dbi(const MsfFile& msf);

}  // namespace mixwalk
