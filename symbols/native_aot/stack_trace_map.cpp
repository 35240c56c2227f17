#include "symbols/native_aot/stack_trace_map.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "symbols/byte_cursor.h"
#include "unmanaged/image/data_directory.h"

namespace mixwalk {
namespace {

constexpr std::uint32_t kHeader = 0x00525452;  // "RTR"
constexpr std::size_t kAlignment = 8, kRowBytes = 24;
constexpr std::uint16_t kMaxRows = 256;
constexpr std::uint32_t kMetadata = 313, kMap = 327, kTypes = 301, kReflection = 306, kReferences = 308;
// The header's versions of .NET 8, 9 and 10.
constexpr std::uint16_t kNet8 = 9, kNet9 = 10, kNet10 = 16;

// Of a row: what the entry changes of the entry before it.
constexpr std::uint8_t kType = 1, kName = 2, kSignature = 4, kGenericSignature = 8;

// A row of the header: the number of a section, and where it begins and ends, as absolute addresses.
struct Row {
  std::uint32_t section = 0;
  std::uint64_t begin = 0, end = 0;
};

Row read_row(ByteCursor& cursor) {
  Row row;
  row.section = cursor.u32();
  cursor.skip(4);  // flags
  row.begin = cursor.read<std::uint64_t>();
  row.end = cursor.read<std::uint64_t>();
  return row;
}

std::span<const std::byte> bytes_of(const PeImage& image, const Row& row) {
  const std::uint64_t rva = row.begin - image.preferred_base(), bytes = row.end - row.begin;
  if (row.begin > row.end || rva > image.size_of_image() || bytes > image.size_of_image()) return {};
  return image.bytes_at(static_cast<std::uint32_t>(rva), static_cast<std::size_t>(bytes))
      .value_or(std::span<const std::byte>());
}

// Reads the header at this place, if it is one.
std::optional<StackTraceMap::Parts> read_header(const PeImage& image, std::span<const std::byte> bytes) {
  ByteCursor cursor(bytes);
  cursor.skip(4);
  const std::uint16_t major = cursor.u16();
  cursor.skip(2 + 4);  // minor version, flags
  const std::uint16_t rows = cursor.u16();
  const std::uint8_t row_bytes = cursor.u8(), row_kind = cursor.u8();
  const bool known = major == kNet8 || major == kNet9 || major == kNet10;
  const bool usual = rows != 0 && rows <= kMaxRows && row_bytes == kRowBytes && row_kind == 1;
  if (cursor.failed() || !known || !usual) return std::nullopt;
  StackTraceMap::Parts parts{.kind_bits = major == kNet10 ? 7u : 8u};
  bool has_metadata = false;
  for (std::uint16_t i = 0; i < rows; ++i) {
    const Row row = read_row(cursor);
    if (cursor.failed()) return std::nullopt;
    if (row.section == kMetadata) {
      parts.metadata = bytes_of(image, row);
      has_metadata = NativeMetadata(parts.metadata, parts.kind_bits).is_valid();
    }
    if (row.section == kMap) {
      parts.map = bytes_of(image, row);
      parts.map_rva = static_cast<std::uint32_t>(row.begin - image.preferred_base());
    }
    if (row.section == kTypes) parts.reflection.types = bytes_of(image, row);
    if (row.section == kReflection) parts.reflection.methods = bytes_of(image, row);
    if (row.section == kReferences) {
      parts.reflection.references = bytes_of(image, row);
      parts.reflection.references_rva = static_cast<std::uint32_t>(row.begin - image.preferred_base());
    }
  }
  if (!has_metadata) return std::nullopt;
  return parts;
}

}  // namespace

std::optional<StackTraceMap::Parts> StackTraceMap::find(const PeImage& image) {
  for (const PeSection& section : image.sections()) {
    if (section.executable) continue;
    const auto data = image.bytes_at(section.rva, section.file_bytes);
    if (!data) continue;
    for (std::size_t at = 0; at + kAlignment <= data->size(); at += kAlignment) {
      std::uint32_t word = 0;
      std::memcpy(&word, data->data() + at, sizeof word);
      if (word != kHeader) continue;
      if (auto parts = read_header(image, data->subspan(at))) return parts;
    }
  }
  return std::nullopt;
}

StackTraceMap::StackTraceMap(const Parts& parts) : metadata_(parts.metadata, parts.kind_bits) {
  if (!parts.map.empty()) read_map(parts);
  add_reflection(parts.reflection);
}

void StackTraceMap::read_map(const Parts& parts) {
  ByteCursor count(parts.map);
  const std::uint32_t entries = count.u32();
  damaged_ = count.failed() || entries > parts.map.size() / 5;  // an entry has at least five bytes
  if (damaged_) return;
  std::vector<Entry> found;
  found.reserve(entries);
  NativeMetadata::Method method;
  std::size_t at = count.at();
  const auto fixed = [&] {
    ByteCursor cursor(parts.map.subspan(std::min(at, parts.map.size())));
    const std::uint32_t value = cursor.u32();
    at += 4;
    return cursor.failed() ? std::nullopt : std::optional(value);
  };
  const auto update = [&](std::uint32_t& field) {
    const auto value = NativeMetadata::read_number(parts.map, at);
    if (value) field = *value;
    return value.has_value();
  };
  for (std::uint32_t i = 0; i < entries && at < parts.map.size(); ++i) {
    const auto command = std::to_integer<std::uint8_t>(parts.map[at++]);
    if ((command & kType) != 0) {
      const auto type = fixed();
      if (!type) break;
      method.type = *type;
    }
    if ((command & kName) != 0 && !update(method.name)) break;
    if ((command & kSignature) != 0) {
      method.arguments = 0;
      if (!update(method.signature)) break;
    }
    if ((command & kGenericSignature) != 0 && (!update(method.signature) || !update(method.arguments))) break;
    const auto place = static_cast<std::uint32_t>(at);
    const auto distance = fixed();
    if (!distance) break;
    found.push_back({parts.map_rva + place + *distance, method});  // the distance may be negative
  }
  damaged_ = found.size() < entries;
  add_unambiguous(std::move(found));
}

void StackTraceMap::add_reflection(const InvokeMap& map) {
  const std::vector<InvokeMap::Row> rows = map.rows(damaged_);
  if (rows.empty()) return;
  const auto [declared, cut] = metadata_.methods_of_types();
  damaged_ |= cut;
  using Declared = std::pair<std::uint32_t, std::uint32_t>;
  std::vector<Entry> found;
  for (const InvokeMap::Row& row : rows) {
    if (find(row.rva) != nullptr) continue;
    // A method whose type cannot be found still runs there, so its code is not that of another method alone.
    Entry& entry = found.emplace_back(Entry{row.rva, {}});
    const auto own = std::ranges::lower_bound(declared, Declared(row.method, row.type));
    if (own == declared.end() || own->first != row.method) continue;
    // A method whose type is not known is that of the only type that has such a method.
    const auto next = std::next(own);
    const bool is_only = !cut && (next == declared.end() || next->first != row.method);
    if (row.type == 0 ? !is_only : own->second != row.type) continue;
    entry.method = metadata_.method_at(row.method, own->second).value_or(NativeMetadata::Method());
    if (metadata_.is_of_value(row.method, own->second)) boxed_.push_back(row.rva);
  }
  add_unambiguous(std::move(found));
}

void StackTraceMap::add_unambiguous(std::vector<Entry> entries) {
  std::ranges::stable_sort(entries, {}, &Entry::rva);
  for (auto begin = entries.begin(); begin != entries.end();) {
    const auto end = std::find_if(begin, entries.end(), [&](const Entry& entry) { return entry.rva != begin->rva; });
    const bool same = std::all_of(begin, end, [&](const Entry& entry) { return entry.method == begin->method; });
    methods_.push_back({begin->rva, same ? begin->method : NativeMetadata::Method()});
    begin = end;
  }
  std::ranges::stable_sort(methods_, {}, &Entry::rva);
}

void StackTraceMap::add_code(const PeImage& image, std::span<const std::byte> file) {
  if (methods_.empty()) return;
  add_unboxed(image);
  add_handlers(image, file);
}

// The stub adds the size of an object's header to `this`, and jumps to the method. A method of a class may have the
// same bytes, if it only calls a method of its first field. Reflection leads to a stub for each instance method of a
// value type, and only for these. (dotnet/runtime: ILCompiler.Compiler, ReflectionInvokeMapNode.)
void StackTraceMap::add_unboxed(const PeImage& image) {
  constexpr std::array kStub = {std::byte{0x48}, std::byte{0x83}, std::byte{0xC1}, std::byte{8}, std::byte{0xE9}};
  constexpr std::uint32_t kStubBytes = kStub.size() + 4;
  std::vector<Entry> found;
  for (const std::uint32_t stub : boxed_) {
    const auto code = image.bytes_at(stub, kStubBytes);
    if (!code || !std::ranges::equal(code->first(kStub.size()), kStub)) continue;
    ByteCursor distance(code->subspan(kStub.size()));
    const std::uint32_t rva = stub + kStubBytes + distance.u32();
    if (find(rva) == nullptr) found.push_back({rva, find(stub)->method});
  }
  add_unambiguous(std::move(found));
}

// Behind the unwind codes of a method's or a handler's UNWIND_INFO is a byte whose lowest bits say what the code is: 0
// for a method. (CoffNativeCodeManager::FindMethodInfo.) Code of other compilers has other data there, so only entries
// among the methods of the map count.
void StackTraceMap::add_handlers(const PeImage& image, std::span<const std::byte> file) {
  constexpr unsigned kPdata = 3;  // IMAGE_DIRECTORY_ENTRY_EXCEPTION
  constexpr std::uint32_t kCodesAt = 4, kCodeBytes = 2;
  constexpr std::uint8_t kKind = 3, kMethod = 0;
  ByteCursor cursor(data_directory(file, kPdata));
  std::uint32_t method = 0;  // 0 if the map does not name it
  while (cursor.left() >= 12) {
    const std::uint32_t begin = cursor.u32();
    cursor.skip(4);
    const std::uint32_t unwind = cursor.u32();
    if (begin < methods_.front().rva || begin > methods_.back().rva) continue;
    ByteCursor info(image.bytes_at(unwind, kCodesAt).value_or(std::span<const std::byte>()));
    info.skip(2);
    const std::uint32_t flags_at = kCodesAt + kCodeBytes * info.u8();
    ByteCursor flags(image.bytes_at(unwind + flags_at, 1).value_or(std::span<const std::byte>()));
    const std::uint8_t kind = flags.u8() & kKind;
    if (info.failed() || flags.failed()) {
      method = 0;
      continue;
    }
    if (kind == kMethod) {
      method = find(begin) != nullptr ? begin : 0;
    } else if (method != 0) {
      handlers_.emplace_back(begin, method);
    }
  }
  std::ranges::sort(handlers_);
}

const StackTraceMap::Entry* StackTraceMap::find(std::uint32_t rva) const {
  const auto found = std::ranges::lower_bound(methods_, rva, {}, &Entry::rva);
  return found == methods_.end() || found->rva != rva ? nullptr : &*found;
}

std::string StackTraceMap::name_at(std::uint32_t rva) const {
  const auto handler = std::ranges::lower_bound(handlers_, rva, {}, &std::pair<std::uint32_t, std::uint32_t>::first);
  if (handler != handlers_.end() && handler->first == rva) rva = handler->second;
  const Entry* const entry = find(rva);
  return entry == nullptr ? std::string() : metadata_.name_of(entry->method);
}

}  // namespace mixwalk
