#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "symbols/demangle/demangle.h"
#include "symbols/image_file.h"
#include "symbols/index/lazy_index.h"
#include "symbols/pdb/dbi.h"
#include "symbols/pdb/inline_tree.h"
#include "symbols/pdb/inlinee_names.h"
#include "symbols/pdb/module_lines.h"
#include "symbols/pdb/module_symbols.h"
#include "symbols/pdb/pdb_info.h"
#include "symbols/pdb/pdb_symbols.h"
#include "symbols/pdb/publics.h"
#include "symbols/pdb/source_server.h"
#include "symbols/portable_pdb/source_link.h"

namespace mixwalk {

// Fills an index with the modules of one PDB; see open_pdb(). Not frozen-safe.
class PdbReader final : public UnitReader {
 public:
  // `image` is null if its file is not there.
  PdbReader(std::shared_ptr<const PdbBytes> bytes, std::shared_ptr<const ImageFile> image, MsfFile msf,
            const PdbInfo& info, PdbDbi dbi);

  // Returns the code of each unit. Unit numbers are module numbers; the unit behind the last module has the public
  // symbols that lie in no contribution.
  std::vector<UnitRange> units() const;
  void read_unit(std::uint32_t unit, IndexBuilder& into) override;
  std::string_view linkage_name(std::uint32_t entry, std::string_view name) const override;
  std::string source_url(std::string_view file) const override;
  std::size_t bytes() const noexcept override;

 private:
  struct Range {
    std::uint32_t begin = 0, end = 0;
  };
  class FunctionSink;

  std::uint32_t public_unit() const { return static_cast<std::uint32_t>(dbi_.modules.size()); }
  // Returns where the code of the public symbol ends, or the symbol's start if its length is not certain. `room` is the
  // upper limit for the end.
  std::uint32_t end_of_public(std::uint32_t rva, std::uint32_t room) const;
  // Whether the RVA lies in one of the unit's own ranges.
  bool owns(std::uint32_t rva) const;
  // Returns the number in the IPI stream for a function that a module calls `id`; 0 if no import or export leads there.
  std::uint32_t inlinee(std::uint32_t id, const PdbModuleLines& lines);
  NameId file_name(const PdbModuleLines& lines, std::uint32_t file, IndexBuilder& into);
  void read_module(const PdbModule& module, IndexBuilder& into);
  void add_function(const PdbFunction& function, const PdbModuleSymbols& symbols,
                    const PdbModuleLines& lines, IndexBuilder& into);
  void add_lines(const PdbModuleLines& lines, std::uint32_t begin, std::uint32_t end,
                 std::vector<ScopedCode>& code);
  void add_separated(const PdbModuleSymbols& symbols, const PdbModuleLines& lines, IndexBuilder& into);
  void add_folded(IndexBuilder& into);
  void add_publics(IndexBuilder& into);

  std::shared_ptr<const PdbBytes> bytes_;
  std::shared_ptr<const ImageFile> image_;
  MsfFile msf_;
  PdbStrings strings_;
  PdbDbi dbi_;
  std::vector<PdbContribution> by_module_;  // the contributions, by module, then by RVA
  PdbPublics publics_;
  InlineeNames inlinees_;
  // By name in lower case; filled when it is first needed.
  std::unordered_map<std::string, std::uint32_t> module_numbers_;
  // Module's number → its exports.
  std::unordered_map<std::uint32_t, std::unordered_map<std::uint32_t, std::uint32_t>> exports_;

  // State of the unit that is being read.
  std::vector<Range> own_;      // its code, sorted and disjoint
  std::vector<Range> covered_;  // by the unit's functions
  // Entry → its function, and the names that were seen there.
  struct Entry {
    ScopeId scope = kNoScope;
    std::uint32_t end = 0;
    std::vector<NameId> names;  // up to kMaxFolded
  };
  std::unordered_map<std::uint32_t, Entry> entries_;
  std::unordered_map<std::uint32_t, NameId> files_;
  // What linkage_name() has found: the last question for each entry. The frames of a stack are at few entries.
  struct Linked {
    std::string name;
    std::string_view linked;
  };
  static constexpr std::size_t kFoundBytes = 128;  // an average answer with its node, without its texts
  mutable std::size_t found_bytes_ = 0;            // of linked_ and known_urls_
  mutable std::unordered_map<std::uint32_t, Linked> linked_;
  mutable std::size_t demangle_budget_ = kDemangleBudget;
  // The web addresses of source files, read when the first one is asked for.
  struct Urls {
    MsfBytes text;
    SourceServer server;            // of `text`
    std::vector<SourceLink> links;  // "sourcelink$1", … (/SOURCELINK of the linker)
  };
  std::vector<std::uint32_t> link_streams_;
  std::uint32_t server_stream_ = MsfFile::kNoStream;
  mutable std::optional<Urls> urls_;
  mutable std::map<std::string, std::string, std::less<>> known_urls_;  // by the files' paths
  std::size_t lines_left_ = 0;  // the number of rows that functions may still add, see add_lines()
};

}  // namespace mixwalk
