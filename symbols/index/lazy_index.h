#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "symbols/index/index_builder.h"
#include "symbols/index/symbol_index.h"

namespace mixwalk {

// Reads the parts of one image's symbols, each part when it is first needed.
class UnitReader {
 public:
  virtual ~UnitReader() = default;
  // Fills the builder with the content of the unit (a compilation unit of DWARF, a module of a PDB). If the unit is
  // damaged, everything that can be read is added. Called once per unit.
  virtual void read_unit(std::uint32_t unit, IndexBuilder& into) = 0;
  // Returns the linker's name, which has the parameters, of the function with this entry and this name; empty if the
  // symbols have no such name.
  virtual std::string_view linkage_name(std::uint32_t, std::string_view) const { return {}; }
  // Returns the address on the web from which a source file can be read; empty if the symbols do not say it.
  virtual std::string source_url(std::string_view) const { return {}; }
  // Returns how much memory the reader uses during its life, most of it for its file.
  virtual std::size_t bytes() const noexcept { return 0; }
};

// A range of code that comes from one unit, according to the symbols' own table of units.
struct UnitRange {
  std::uint32_t begin = 0, end = 0;  // RVAs; [begin, end)
  std::uint32_t unit = 0;
};

// Everything that the symbols of one image say about its code, read one unit at a time. Not frozen-safe; one thread at
// a time.
class LazyIndex {
 public:
  // The limit for memory, without the reader's own memory: twice what a browser's symbols need. A unit that would
  // exceed the limit is read but not kept, and its code has no names.
  static constexpr std::size_t kMaxBytes = 1024u * 1024 * 1024;

  // `ranges` may be in any order; if they overlap, the code belongs to the range that begins last.
  LazyIndex(std::vector<UnitRange> ranges, std::unique_ptr<UnitReader> reader,
            std::uint32_t image_bytes);

  // Like SymbolIndex::find(). The views in `into` are valid as long as this object.
  bool find(std::uint32_t rva, SourceLocation& into);

  // Like SymbolIndex::find_line().
  bool find_line(std::uint32_t rva, SourceFrame& into);

  // Like UnitReader::linkage_name(). The view is valid as long as this object.
  std::string_view linkage_name(std::uint32_t entry, std::string_view name) const {
    return reader_->linkage_name(entry, name);
  }

  // Like UnitReader::source_url().
  std::string source_url(std::string_view file) const { return reader_->source_url(file); }

  std::size_t bytes() const noexcept;  // memory for indices and names
  std::size_t reader_bytes() const noexcept { return reader_->bytes(); }
  NamePool& names() noexcept { return *names_; }

 private:
  friend struct LazyIndexTestPeer;

  const SymbolIndex& unit(std::uint32_t number);
  // Returns null if the code there comes from no unit.
  const SymbolIndex* unit_at(std::uint32_t rva);

  std::unique_ptr<NamePool> names_;
  std::unique_ptr<UnitReader> reader_;
  IndexBuilder builder_;
  SortedRows<Segment> by_code_;  // the scope is a unit's number
  std::unordered_map<std::uint32_t, SymbolIndex> units_;
  std::size_t index_bytes_ = 0;
};

}  // namespace mixwalk
