#include "unmanaged/image/pe_image.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "unmanaged/enum_texts.h"
#include "unmanaged/step/pdata.h"
#include "unmanaged/step/unwind_info.h"

namespace mixwalk {
namespace {

// Limits: some ten times what the largest known images have. A table's count is also compared with the file's own size,
// since sections may share their bytes, and a small file must not expand into much memory.
constexpr std::uint16_t kMaxSections = 512;         // the loader's own limit is 96
constexpr std::uint32_t kMaxExports = 1'000'000;    // ordinals have 16 bits; names may repeat them
constexpr std::uint32_t kMaxFunctions = 5'000'000;  // chrome.dll has some 800,000
constexpr std::size_t kMaxName = 4096;              // bytes; decorated C++ names stay below

constexpr std::uint16_t kMz = 0x5A4D;
constexpr std::uint32_t kPe = 0x00004550;
constexpr std::uint16_t kMachineX64 = 0x8664;
constexpr std::uint16_t kMagicPe32 = 0x10B;
constexpr std::uint16_t kMagicPe32Plus = 0x20B;
constexpr std::uint32_t kExecutable = 0x20000000;  // IMAGE_SCN_MEM_EXECUTE

// Offsets of the headers' fields, and sizes.
constexpr std::uint64_t kLfanew = 0x3C;
constexpr std::uint64_t kCoffBytes = 20, kSectionBytes = 40, kDirectoryBytes = 8;
constexpr std::uint64_t kImageBase = 24, kSizeOfImage = 56, kDirectoryCount = 108, kDirectories = 112;
constexpr std::uint32_t kExportTable = 0, kImportTable = 1, kExceptionTable = 3, kDelayImportTable = 13,
                        kClrHeader = 14;
constexpr std::uint32_t kManagedNativeHeader = 64;  // in IMAGE_COR20_HEADER

struct ExportDirectory {
  std::uint32_t flags, timestamp;
  std::uint16_t major, minor;
  std::uint32_t name, ordinal_base, function_count, name_count, functions, names, ordinals;
};
static_assert(sizeof(ExportDirectory) == 40);

// The image as memory whose addresses are RVAs.
class RvaReader final : public MemoryReader {
 public:
  explicit RvaReader(const PeImage& image) noexcept : image_(image) {}
  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    if (address > std::numeric_limits<std::uint32_t>::max()) return false;
    const auto found = image_.bytes_at(static_cast<std::uint32_t>(address), bytes);
    if (found) std::memcpy(into, found->data(), bytes);
    return found.has_value();
  }

 private:
  const PeImage& image_;
};

}  // namespace

struct PeImage::ExportTable {
  Directory directory;
  ExportDirectory fields;
};

std::string_view to_string(PeError error) noexcept {
  static constexpr EnumTexts<PeError::too_many> kTexts{
      "no error",
      "not a PE image",
      "the image is cut off, or a table lies beyond its end",
      "a 32-bit image",
      "not an x64 image",
      "more sections, exports or functions than an image can have"};
  return kTexts.of(error, "unknown error");
}

template <class T>
std::optional<T> PeImage::at_offset(std::uint64_t offset) const noexcept {
  if (offset > file_.size() || sizeof(T) > file_.size() - offset) return std::nullopt;
  T value;
  std::memcpy(&value, file_.data() + offset, sizeof value);
  return value;
}

template <class T>
std::optional<T> PeImage::at_rva(std::uint32_t rva) const noexcept {
  const auto bytes = bytes_at(rva, sizeof(T));
  if (!bytes) return std::nullopt;
  T value;
  std::memcpy(&value, bytes->data(), sizeof value);
  return value;
}

std::string_view PeImage::text_at(std::uint32_t rva) const noexcept {
  const PeSection* section = section_at(rva);
  if (section == nullptr || rva - section->rva >= section->file_bytes) return {};
  const std::uint64_t offset = std::uint64_t{section->file_offset} + (rva - section->rva);
  if (offset >= file_.size()) return {};
  const auto* text = reinterpret_cast<const char*>(file_.data() + offset);
  const auto room = std::min<std::uint64_t>(
      {file_.size() - offset, section->file_bytes - (rva - section->rva), kMaxName});
  const void* end = std::memchr(text, 0, room);
  return end == nullptr ? std::string_view()
                        : std::string_view(text, static_cast<const char*>(end) - text);
}

PeImage PeImage::parse(std::span<const std::byte> file) {
  PeImage image;
  image.file_ = file;
  image.error_ = image.parse_headers();
  if (image.error_ == PeError::none) image.error_ = image.parse_functions();
  if (image.error_ == PeError::none) image.error_ = image.parse_exports();
  return image;
}

PeError PeImage::parse_headers() {
  if (at_offset<std::uint16_t>(0) != kMz) return PeError::not_pe;
  const auto pe = at_offset<std::uint32_t>(kLfanew);
  if (!pe) return PeError::truncated;
  if (at_offset<std::uint32_t>(*pe) != kPe) return PeError::not_pe;
  const std::uint64_t coff = std::uint64_t{*pe} + 4;
  const std::uint64_t optional = coff + kCoffBytes;
  const auto magic = at_offset<std::uint16_t>(optional);
  if (!magic) return PeError::truncated;
  machine_ = *at_offset<std::uint16_t>(coff);
  const std::uint16_t section_count = *at_offset<std::uint16_t>(coff + 2);
  timestamp_ = *at_offset<std::uint32_t>(coff + 4);
  const std::uint16_t optional_bytes = *at_offset<std::uint16_t>(coff + 16);
  if (*magic == kMagicPe32) return PeError::pe32;
  if (*magic != kMagicPe32Plus || machine_ != kMachineX64) return PeError::not_x64;
  const auto size_of_image = at_offset<std::uint32_t>(optional + kSizeOfImage);
  const auto directory_count = at_offset<std::uint32_t>(optional + kDirectoryCount);
  if (!directory_count) return PeError::truncated;
  size_of_image_ = *size_of_image;
  preferred_base_ = *at_offset<std::uint64_t>(optional + kImageBase);

  const auto directory = [&](std::uint32_t index) {
    const std::uint64_t at = optional + kDirectories + index * kDirectoryBytes;
    if (index >= *directory_count || at + kDirectoryBytes > optional + optional_bytes) {
      return Directory();
    }
    const Directory found = at_offset<Directory>(at).value_or(Directory());
    return found.bytes == 0 ? Directory() : found;
  };
  export_directory_ = directory(kExportTable);
  exception_directory_ = directory(kExceptionTable);
  import_directory_ = directory(kImportTable);
  delay_import_directory_ = directory(kDelayImportTable);
  const Directory clr = directory(kClrHeader);

  const PeError sections = parse_sections(optional + optional_bytes, section_count);
  if (sections != PeError::none) return sections;
  if (clr.rva != 0) {
    const auto native = at_rva<std::uint32_t>(clr.rva + kManagedNativeHeader);
    has_managed_code_ = native && *native != 0;
  }
  return PeError::none;
}

PeError PeImage::parse_sections(std::uint64_t table, std::uint16_t count) {
  if (count > kMaxSections) return PeError::too_many;
  for (std::uint16_t i = 0; i < count; ++i) {
    const std::uint64_t at = table + i * kSectionBytes;
    const auto flags = at_offset<std::uint32_t>(at + 36);
    if (!flags) return PeError::truncated;
    const auto field = [&](std::uint64_t offset) { return *at_offset<std::uint32_t>(at + offset); };
    sections_.push_back({.rva = field(12),
                         .bytes = std::max(field(8), field(16)),
                         .file_offset = field(20),
                         .file_bytes = field(16),
                         .executable = (*flags & kExecutable) != 0});
  }
  std::stable_sort(
      sections_.begin(), sections_.end(),
      [](const PeSection& left, const PeSection& right) { return left.rva < right.rva; });
  return PeError::none;
}

PeError PeImage::parse_functions() {
  const std::uint32_t count = exception_directory_.bytes / sizeof(FunctionEntry);
  if (count > kMaxFunctions) return PeError::too_many;
  if (count > file_.size() / sizeof(FunctionEntry)) return PeError::truncated;
  functions_.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto entry = at_rva<FunctionEntry>(exception_directory_.rva +
                                             i * static_cast<std::uint32_t>(sizeof(FunctionEntry)));
    if (!entry) return PeError::truncated;
    if (entry->begin >= entry->end) continue;  // padding at the table's end
    functions_.push_back({entry->begin, entry->end, primary_of(*entry)});
  }
  std::sort(functions_.begin(), functions_.end(),
            [](const Function& left, const Function& right) { return left.begin < right.begin; });
  return PeError::none;
}

// Returns the start of the function that the entry is a part of, or 0 if the unwind data does not say.
std::uint32_t PeImage::primary_of(const FunctionEntry& entry) const noexcept {
  const RvaReader memory(*this);
  const EntrySearch described = described_entry(memory, 0, entry, 0);
  if (described.fault != StepFault::none || described.entry.begin >= described.entry.end) return 0;
  const UnwindCheck check = check_unwind({memory, memory}, described.entry, 0);
  return check.fault == StepFault::none ? check.function_begin : 0;
}

PeError PeImage::parse_exports() {
  if (export_directory_.rva == 0) return PeError::none;
  const auto fields = at_rva<ExportDirectory>(export_directory_.rva);
  if (!fields) return PeError::truncated;
  if (fields->function_count > kMaxExports || fields->name_count > kMaxExports) {
    return PeError::too_many;
  }
  if (fields->function_count > file_.size() / 4 || fields->name_count > file_.size() / 4) {
    return PeError::truncated;
  }
  const ExportTable table{export_directory_, *fields};
  std::vector<bool> named(fields->function_count);
  for (std::uint32_t i = 0; i < fields->name_count; ++i) {
    const auto name = at_rva<std::uint32_t>(fields->names + i * 4);
    const auto index = at_rva<std::uint16_t>(fields->ordinals + i * 2);
    if (!name || !index) return PeError::truncated;
    if (*index >= named.size()) continue;
    named[*index] = true;
    add_export(table, text_at(*name), *index);
  }
  for (std::uint32_t i = 0; i < named.size(); ++i) {
    if (!named[i]) add_export(table, {}, i);
  }
  const auto key = [](const PeExport& found) { return found.rva == 0 ? UINT32_MAX : found.rva; };
  std::stable_sort(
      exports_.begin(), exports_.end(),
      [&](const PeExport& left, const PeExport& right) { return key(left) < key(right); });
  return PeError::none;
}

// A slot that holds no RVA belongs to an ordinal that no export has.
void PeImage::add_export(const ExportTable& table, std::string_view name, std::uint32_t index) {
  const auto rva = at_rva<std::uint32_t>(table.fields.functions + index * 4);
  if (!rva || *rva == 0) return;
  PeExport found{name, table.fields.ordinal_base + index, *rva, {}};
  // An address inside the export directory is not code but the text of a forwarder.
  if (*rva - table.directory.rva < table.directory.bytes) {
    found.forwarder = text_at(*rva);
    found.rva = 0;
    if (found.forwarder.empty()) return;
  }
  exports_.push_back(found);
}

const PeSection* PeImage::section_at(std::uint32_t rva) const noexcept {
  auto after = std::upper_bound(
      sections_.begin(), sections_.end(), rva,
      [](std::uint32_t value, const PeSection& section) { return value < section.rva; });
  if (after == sections_.begin()) return nullptr;
  const PeSection& candidate = *(after - 1);
  return candidate.contains(rva) ? &candidate : nullptr;
}

bool PeImage::is_code(std::uint32_t rva) const noexcept {
  const PeSection* section = section_at(rva);
  return section != nullptr && section->executable;
}

// Bytes that straddle two sections are refused: no linker writes such data.
std::optional<std::span<const std::byte>> PeImage::bytes_at(std::uint32_t rva,
                                                            std::size_t bytes) const noexcept {
  const PeSection* section = section_at(rva);
  if (section == nullptr) return std::nullopt;
  const std::uint32_t at = rva - section->rva;
  if (at > section->file_bytes || bytes > section->file_bytes - at) return std::nullopt;
  const std::uint64_t offset = std::uint64_t{section->file_offset} + at;
  if (offset > file_.size() || bytes > file_.size() - offset) return std::nullopt;
  return file_.subspan(offset, bytes);
}

const PeImage::Function* PeImage::function_at(std::uint32_t rva) const noexcept {
  const Function* after = function_after(rva);
  const Function* end = functions_.data() + functions_.size();
  const Function* candidate = after == nullptr ? end : after;
  if (candidate == functions_.data()) return nullptr;
  --candidate;
  return rva < candidate->end ? candidate : nullptr;
}

const PeImage::Function* PeImage::function_after(std::uint32_t rva) const noexcept {
  auto after = std::upper_bound(
      functions_.begin(), functions_.end(), rva,
      [](std::uint32_t value, const Function& function) { return value < function.begin; });
  return after == functions_.end() ? nullptr : &*after;
}

}  // namespace mixwalk
