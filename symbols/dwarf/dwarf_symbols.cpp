#include "symbols/dwarf/dwarf_symbols.h"

#include <utility>

#include "symbols/dwarf/debug_link.h"
#include "symbols/dwarf/dwarf_abbreviations.h"
#include "symbols/dwarf/dwarf_object.h"
#include "symbols/dwarf/dwarf_unit.h"

namespace mixwalk {
namespace {

// The limit for compilation units. A browser's debug file has some 40,000.
constexpr std::size_t kMaxUnits = 200'000;
// The limit for the ranges of code of all units together.
constexpr std::size_t kMaxUnitRanges = 8'000'000;

// One file with DWARF, and the bytes from which it is read.
class DwarfFile final : public UnitReader {
 public:
  // `file` refers to the bytes of either `image` or `bytes`.
  DwarfFile(std::shared_ptr<const ImageFile> image, std::vector<std::byte> bytes, const CoffFile& file)
      : image_(std::move(image)),
        bytes_(std::move(bytes)),
        object_(file),
        code_(file),
        names_(object_.get()),
        abbreviations_(data_of(file, ".debug_abbrev")),
        line_section_(data_of(file, ".debug_line")) {}

  const std::string& problem() const noexcept { return object_.problem(); }
  // The first pass: finds where each unit is, and which code it has.
  std::vector<UnitRange> find_units();

  void read_unit(std::uint32_t unit, IndexBuilder& into) override {
    if (unit < units_.size()) DwarfUnitReader(object_.get(), code_, names_, into).read(units_[unit], line_section_);
  }
  std::size_t bytes() const noexcept override { return bytes_.capacity(); }

 private:
  static std::span<const std::byte> data_of(const CoffFile& file, std::string_view name) noexcept {
    const CoffSection* const section = file.section(name);
    return section == nullptr ? std::span<const std::byte>() : section->data;
  }
  void add_unit(Dwarf_Die die, std::uint64_t bytes, std::vector<UnitRange>& ranges);

  std::shared_ptr<const ImageFile> image_;
  std::vector<std::byte> bytes_;
  DwarfObject object_;
  CodeSpan code_;
  DwarfNames names_;
  DwarfAbbreviations abbreviations_;
  std::span<const std::byte> line_section_;
  std::vector<DwarfUnit> units_;
  std::vector<RvaRange> code_of_unit_;
};

void DwarfFile::add_unit(Dwarf_Die die, std::uint64_t bytes, std::vector<UnitRange>& ranges) {
  DwarfError error(object_.get());
  Dwarf_Half tag = 0;
  DwarfUnit unit{.bytes = bytes};
  if (dwarf_tag(die, &tag, error) != DW_DLV_OK || tag != DW_TAG_compile_unit ||
      dwarf_dieoffset(die, &unit.die, error) != DW_DLV_OK) {
    return;
  }
  const DwarfAttributes attributes(object_.get(), die);
  unit.base = attributes.address(DW_AT_low_pc).value_or(0);
  DwarfRanges(object_.get(), code_).read(die, attributes, unit.base, code_of_unit_);
  if (code_of_unit_.empty()) return;  // the file has only types, or functions that only other units inline
  const auto number = static_cast<std::uint32_t>(units_.size());
  units_.push_back(unit);
  for (const RvaRange& range : code_of_unit_) ranges.push_back({range.begin, range.end, number});
}

std::vector<UnitRange> DwarfFile::find_units() {
  const Dwarf_Debug debug = object_.get();
  std::vector<UnitRange> ranges;
  if (debug == nullptr) return ranges;
  DwarfError error(debug);
  Dwarf_Unsigned begin = 0;
  std::size_t units = 0;
  for (; units < kMaxUnits && ranges.size() < kMaxUnitRanges; ++units) {
    Dwarf_Unsigned header_bytes = 0, type_offset = 0, next = 0;
    Dwarf_Off abbreviations = 0;
    Dwarf_Half version = 0, address_bytes = 0, offset_bytes = 0, extension_bytes = 0, kind = 0;
    Dwarf_Sig8 signature{};
    if (dwarf_next_cu_header_d(debug, true, &header_bytes, &version, &abbreviations, &address_bytes,
                               &offset_bytes, &extension_bytes, &signature, &type_offset, &next, &kind,
                               error) != DW_DLV_OK) {
      break;  // either the end, or a damaged header, behind which nothing can be found
    }
    Dwarf_Die die = nullptr;
    if (abbreviations_.allow(abbreviations) &&
        dwarf_siblingof_b(debug, nullptr, true, &die, error) == DW_DLV_OK) {
      const DiePointer owned(die);
      add_unit(die, next - begin, ranges);
    }
    begin = next;
  }
  names_.set_units(units);
  return ranges;
}

// With `bytes`, opens a debug file; without, the image's own DWARF.
DwarfSymbols open_file(std::shared_ptr<const ImageFile> image, std::vector<std::byte> bytes) {
  const bool linked = !bytes.empty();
  const CoffFile file = CoffFile::parse(linked ? std::span(bytes) : std::span(image->bytes));
  DwarfSymbols result;
  if (file.error() != PeError::none) {
    result.problem = to_string(file.error());
    return result;
  }
  const std::uint32_t image_bytes = file.size_of_image();
  auto reader = std::make_unique<DwarfFile>(std::move(image), std::move(bytes), file);
  result.problem = reader->problem();
  if (!result.problem.empty()) return result;
  std::vector<UnitRange> ranges = reader->find_units();
  if (ranges.empty()) {
    result.problem = "the DWARF tells of no code";
    return result;
  }
  if (linked) result.linked_symbols = CoffSymbols(file);
  result.index = std::make_unique<LazyIndex>(std::move(ranges), std::move(reader), image_bytes);
  return result;
}

}  // namespace

DwarfSymbols open_dwarf(std::shared_ptr<const ImageFile> image, ImageFiles& files) {
  DwarfSymbols own = open_file(image, {});
  own.path = image->path;
  if (own.index != nullptr) return own;
  const auto link = debug_link(CoffFile::parse(image->bytes));
  if (!link) return own;
  DwarfSymbols linked;
  linked.problem = "no debug file " + std::string(link->name);
  for (const std::string& path : debug_link_paths(image->path, link->name)) {
    auto bytes = files.read(path);
    if (!bytes || bytes->empty()) continue;
    if (crc32(*bytes) != link->crc) {
      linked.problem = "the debug file " + std::string(link->name) + " is of another build";
      continue;
    }
    linked = open_file(image, std::move(*bytes));
    linked.path = path;
    if (linked.index != nullptr) break;
  }
  return linked;
}

}  // namespace mixwalk
