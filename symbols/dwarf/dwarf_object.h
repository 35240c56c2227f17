#pragma once

#include <libdwarf.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "unmanaged/image/coff_file.h"

namespace mixwalk {

// The DWARF sections of one file. Sections that objcopy --compress-debug-sections packed are unpacked. libdwarf reads
// them from memory by our own section table. libdwarf's reader of PE files is not used, because it needs a path and
// copies the file. Not frozen-safe; one thread at a time.
//
// Everything that libdwarf allocates for its caller is freed explicitly, by the deleters below. With libdwarf's own
// bookkeeping of allocations (dwarf_set_de_alloc_flag), libdwarf needs twice the time and the memory.
class DwarfObject {
 public:
  // The memory to which the sections' data refers must outlive this object.
  explicit DwarfObject(const CoffFile& file);
  ~DwarfObject();
  DwarfObject(const DwarfObject&) = delete;
  DwarfObject& operator=(const DwarfObject&) = delete;

  // Returns null if the file has no DWARF, or if its DWARF is damaged; problem() says which of the two.
  Dwarf_Debug get() const noexcept { return debug_; }
  // Returns the content of a section (".debug_line"); empty if the file has none.
  std::span<const std::byte> section(std::string_view name) const noexcept;
  // The memory in use for sections that were packed.
  std::size_t bytes() const noexcept { return unpacked_bytes_; }
  // One line, no full stop.
  const std::string& problem() const noexcept { return problem_; }
  bool is_damaged() const noexcept { return damaged_; }

 private:
  // The maximum number of bytes of unpacked sections, as for a file that is not packed.
  static constexpr std::uint64_t kMaxUnpacked = 1ull << 30;
  struct Section {
    std::string name;
    std::span<const std::byte> data;
  };
  // Adds a section whose name begins with ".zdebug_". Returns false if it is damaged.
  bool add_packed(const CoffSection& section);
  static const Dwarf_Obj_Access_Methods_a kMethods;
  static int section_info(void* self, Dwarf_Unsigned index, Dwarf_Obj_Access_Section_a* into, int* error);
  static int load_section(void* self, Dwarf_Unsigned index, Dwarf_Small** data, int* error);

  std::vector<Section> sections_;
  std::vector<std::unique_ptr<std::byte[]>> unpacked_;
  std::size_t unpacked_bytes_ = 0;
  Dwarf_Unsigned bytes_ = 0;
  Dwarf_Obj_Access_Interface_a interface_{};
  Dwarf_Debug debug_ = nullptr;
  std::string problem_;
  bool damaged_ = false;
};

// The error of one call. libdwarf ends the process if it cannot store an error.
class DwarfError {
 public:
  explicit DwarfError(Dwarf_Debug debug) noexcept : debug_(debug) {}
  ~DwarfError() { clear(); }
  DwarfError(const DwarfError&) = delete;
  DwarfError& operator=(const DwarfError&) = delete;

  operator Dwarf_Error*() noexcept {
    clear();
    return &error_;
  }
  std::string text() const { return error_ == nullptr ? std::string() : dwarf_errmsg(error_); }

 private:
  void clear() noexcept {
    if (error_ != nullptr) dwarf_dealloc_error(debug_, error_);
    error_ = nullptr;
  }
  Dwarf_Debug debug_;
  Dwarf_Error error_ = nullptr;
};

struct DieDeleter {
  void operator()(Dwarf_Die die) const noexcept { dwarf_dealloc_die(die); }
};
using DiePointer = std::unique_ptr<std::remove_pointer_t<Dwarf_Die>, DieDeleter>;

}  // namespace mixwalk
