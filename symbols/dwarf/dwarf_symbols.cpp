#include "symbols/dwarf/dwarf_symbols.h"

#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "symbols/dwarf/debug_link.h"
#include "symbols/dwarf/dwarf_abbreviations.h"
#include "symbols/dwarf/dwarf_object.h"
#include "symbols/dwarf/dwarf_unit.h"
#include "symbols/dwarf/split_unit.h"
#include "symbols/symbol_path.h"

namespace mixwalk {
namespace {

// The limit for compilation units. A browser's debug file has some 40,000.
constexpr std::size_t kMaxUnits = 200'000;
// The limit for the ranges of code of all units together.
constexpr std::size_t kMaxUnitRanges = 8'000'000;

constexpr const char* kNoUnit = "it has no unit of this build: it belongs to another build, or is damaged";

// Why a file that was found is no file of an image for Windows.
const char* no_image_words(std::span<const std::byte> bytes) {
  constexpr std::string_view kElf = "\x7F" "ELF";
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return text.starts_with(kElf) ? "it is an ELF file, and an image for Windows has COFF files"
                                : "it is no file of an image for Windows";
}

// One file with DWARF, and the bytes from which it is read.
class DwarfFile final : public UnitReader {
 public:
  // `file` refers to the bytes of either `image` or `bytes`.
  DwarfFile(std::shared_ptr<const ImageFile> image, std::vector<std::byte> bytes, const CoffFile& file,
            ImageFiles& files)
      : image_(std::move(image)),
        bytes_(std::move(bytes)),
        files_(files),
        object_(file),
        code_(file),
        names_(object_.get()),
        abbreviations_(object_.section(".debug_abbrev")),
        line_section_(object_.section(".debug_line")) {}

  const std::string& problem() const noexcept { return object_.problem(); }
  bool is_damaged() const noexcept { return object_.is_damaged(); }
  // The first pass: finds where each unit is, and which code it has.
  std::vector<UnitRange> find_units();

  // Says in a sentence that the files of split units are missing; empty if there are none, or the first one was found.
  std::string missing_split();

  void read_unit(std::uint32_t unit, IndexBuilder& into) override;
  std::size_t bytes() const noexcept override {
    return bytes_.capacity() + object_.bytes() + (tied_ != nullptr ? tied_->bytes() : 0);
  }

 private:
  void add_unit(Dwarf_Die die, std::uint64_t bytes, std::uint64_t signature, std::vector<UnitRange>& ranges);
  SplitFile* open_split(std::uint32_t number) {
    return SplitFile::open(splits_[number], image_->path, files_, object_.get(), tied_);
  }

  std::shared_ptr<const ImageFile> image_;
  std::vector<std::byte> bytes_;
  ImageFiles& files_;
  DwarfObject object_;
  std::unique_ptr<SplitFile> tied_;
  CodeSpan code_;
  DwarfNames names_;
  DwarfAbbreviations abbreviations_;
  std::span<const std::byte> line_section_;
  std::vector<DwarfUnit> units_;
  std::vector<SplitUnit> splits_;
  std::vector<RvaRange> code_of_unit_;
};

std::string DwarfFile::missing_split() {
  if (splits_.empty() || open_split(0) != nullptr) return {};
  const std::string text = "the names of functions are in .dwo files (-gsplit-dwarf) that ",
                    first = "; the first is " + std::string(file_name(splits_.front().name));
  for (const std::string& path : split_paths(splits_.front(), image_->path)) {
    const auto bytes = files_.read(path);
    if (!bytes) continue;
    const bool readable = CoffFile::parse_object(*bytes).error() == PeError::none;
    return text + "cannot be used" + first + ": " + (readable ? kNoUnit : no_image_words(*bytes));
  }
  return text + "were not found; put them beside the image" + first;
}

void DwarfFile::read_unit(std::uint32_t number, IndexBuilder& into) {
  if (number >= units_.size()) return;
  const DwarfUnit& unit = units_[number];
  DwarfError error(object_.get());
  Dwarf_Die die = nullptr;
  if (dwarf_offdie_b(object_.get(), unit.die, true, &die, error) != DW_DLV_OK) return;
  const DiePointer owned(die);
  DwarfLines lines(object_.get(), die, line_section_);
  lines.add_rows(code_, into);
  if (unit.split == DwarfUnit::kNotSplit) {
    DwarfUnitReader(object_.get(), code_, names_, into).read(die, unit.bytes, unit.base, lines);
  } else if (SplitFile* const split = open_split(unit.split)) {
    DwarfUnitReader(split->debug(), code_, split->names(), into)
        .read(split->unit(), split->unit_bytes(), unit.base, lines);
  }
}

void DwarfFile::add_unit(Dwarf_Die die, std::uint64_t bytes, std::uint64_t signature,
                         std::vector<UnitRange>& ranges) {
  DwarfError error(object_.get());
  Dwarf_Half tag = 0;
  DwarfUnit unit{.bytes = bytes};
  if (dwarf_tag(die, &tag, error) != DW_DLV_OK || (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit) ||
      dwarf_dieoffset(die, &unit.die, error) != DW_DLV_OK) {
    return;
  }
  const DwarfAttributes attributes(object_.get(), die);
  unit.base = attributes.address(DW_AT_low_pc).value_or(0);
  DwarfRanges(object_.get(), code_).read(die, attributes, unit.base, code_of_unit_);
  if (code_of_unit_.empty()) return;  // the file has only types, or functions that only other units inline
  std::string_view split = attributes.text(DW_AT_dwo_name);
  if (split.empty()) split = attributes.text(DW_AT_GNU_dwo_name);
  const std::string_view folder = attributes.text(DW_AT_comp_dir);
  constexpr std::size_t kMaxPath = 4096;  // all units may refer to one text of many megabytes
  if (!split.empty() && split.size() + folder.size() <= kMaxPath) {
    unit.split = static_cast<std::uint32_t>(splits_.size());
    splits_.push_back({std::string(folder), std::string(split),
                       attributes.number(DW_AT_GNU_dwo_id).value_or(signature)});
  }
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
      std::uint64_t id = 0;
      std::memcpy(&id, &signature, sizeof id);
      add_unit(die, next - begin, id, ranges);
    }
    begin = next;
  }
  names_.set_units(units);
  return ranges;
}

// With `bytes`, opens a debug file; without, the image's own DWARF.
DwarfSymbols open_file(std::shared_ptr<const ImageFile> image, std::vector<std::byte> bytes, ImageFiles& files) {
  const bool linked = !bytes.empty();
  const CoffFile file = CoffFile::parse(linked ? std::span(bytes) : std::span(image->bytes));
  DwarfSymbols result;
  if (file.error() != PeError::none) {
    result.problem = to_string(file.error());
    if (linked) result.note = no_image_words(bytes);
    return result;
  }
  const std::uint32_t image_bytes = file.size_of_image();
  auto reader = std::make_unique<DwarfFile>(std::move(image), std::move(bytes), file, files);
  result.problem = reader->problem();
  if (!result.problem.empty()) {
    if (reader->is_damaged()) result.note = result.problem;
    return result;
  }
  std::vector<UnitRange> ranges = reader->find_units();
  if (ranges.empty()) {
    result.problem = "the DWARF tells of no code";
    return result;
  }
  result.note = reader->missing_split();
  if (linked) result.linked_symbols = CoffSymbols(file);
  result.index = std::make_unique<LazyIndex>(std::move(ranges), std::move(reader), image_bytes);
  return result;
}

}  // namespace

namespace {

// Completes the note, which has no path yet.
DwarfSymbols at(std::string path, DwarfSymbols symbols) {
  if (!symbols.note.empty()) symbols.note = (symbols.index ? "" : "not used: ") + path + ": " + symbols.note;
  symbols.path = std::move(path);
  return symbols;
}

}  // namespace

DwarfSymbols open_dwarf(std::shared_ptr<const ImageFile> image, ImageFiles& files) {
  DwarfSymbols own = at(image->path, open_file(image, {}, files));
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
      linked.note = "not used: " + path + ": the debug file belongs to another build of " +
                    std::string(file_name(image->path)) + " (its checksum differs)";
      continue;
    }
    linked = at(path, open_file(image, std::move(*bytes), files));
    if (linked.index != nullptr) break;
  }
  return linked;
}

}  // namespace mixwalk
