#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/dwarf/dwarf_names.h"
#include "symbols/dwarf/dwarf_object.h"
#include "symbols/image_files.h"

namespace mixwalk {

// What a skeleton says about the rest of its unit, which the compiler left in a file of its own (-gsplit-dwarf): DWARF
// 5, section 7.3.2, and gcc's form of DWARF 4. Not frozen-safe.
struct SplitUnit {
  std::string folder, name;  // of the file, as the compiler wrote them
  std::uint64_t id = 0;      // the unit in that file has the same
};

// Where the file may lie: where the compiler wrote it, and beside the image. `image_path` is UTF-8.
std::vector<std::string> split_paths(const SplitUnit& unit, std::string_view image_path);

// An open file of a split unit. (Files for Windows are COFF objects, with one unit each; no tool makes packages of
// them, as "dwp" does of ELF files.)
class SplitFile {
 public:
  // `main` is the image's own debug information, which has the addresses. Returns null if no file of the unit was
  // found. `tied` keeps the file that was opened last, and must live as long as `main`.
  static SplitFile* open(const SplitUnit& unit, std::string_view image_path, ImageFiles& files, Dwarf_Debug main,
                         std::unique_ptr<SplitFile>& tied);

  Dwarf_Debug debug() const noexcept { return object_.get(); }
  Dwarf_Die unit() const noexcept { return unit_.get(); }
  std::uint64_t unit_bytes() const noexcept { return unit_bytes_; }
  std::size_t bytes() const noexcept { return bytes_.capacity() + object_.bytes(); }
  DwarfNames& names() noexcept { return names_; }

 private:
  SplitFile(std::vector<std::byte> bytes, const CoffFile& file)
      : bytes_(std::move(bytes)), object_(file), names_(object_.get()) {}
  bool find(std::uint64_t id, Dwarf_Debug main);

  std::vector<std::byte> bytes_;
  DwarfObject object_;
  DwarfNames names_;
  DiePointer unit_;
  std::uint64_t unit_bytes_ = 0;
};

}  // namespace mixwalk
