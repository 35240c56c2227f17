#include "walker/clr/contracts/descriptor.h"

#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "unmanaged/image/exports_name.h"
#include "unmanaged/image/image_headers.h"
#include "unmanaged/image/pe_image.h"
#include "unmanaged/image/relocations.h"
#include "unmanaged/step/byte_memory.h"

namespace mixwalk {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kExport = "DotNetRuntimeContractDescriptor";
constexpr std::uint64_t kMagic = 0x0043414443434E44;  // "DNCCDAC" and a zero
constexpr std::uint32_t kPointersOf4Bytes = 2;        // a bit of the flags
// The descriptor of .NET 10 has 11 KB and 25 pointers.
constexpr std::uint32_t kMaxBytes = 1 << 20;
constexpr std::uint32_t kMaxPointers = 4096;
// .NET 11 has one descriptor inside its own: that of the collector.
constexpr std::size_t kMaxParts = 16;

// The descriptor as it is in memory.
struct Header {
  std::uint64_t magic;
  std::uint32_t flags;
  std::uint32_t bytes;
  std::uint64_t text;
  std::uint32_t pointer_count;
  std::uint32_t padding;
  std::uint64_t pointers;
};
static_assert(sizeof(Header) == 40);

// The name under which a type's own size is among its fields.
constexpr std::string_view kSize = "!";

// A number is written as such, or as text: "0x1c".
std::optional<std::uint64_t> number_of(const Json& value) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  const bool hex = text.starts_with("0x");
  const char* const begin = text.data() + (hex ? 2 : 0);
  const char* const end = text.data() + text.size();
  std::uint64_t number = 0;
  const auto read = std::from_chars(begin, end, number, hex ? 16 : 10);
  return read.ec == std::errc() && read.ptr == end ? std::optional(number) : std::nullopt;
}

// A value is written alone, or together with its type: [16, "pointer"].
const Json& without_type(const Json& value) {
  return value.is_array() && value.size() == 2 && value[1].is_string() ? value[0] : value;
}

std::optional<std::uint32_t> offset_of(const Json& value) {
  const auto number = number_of(without_type(value));
  if (!number || *number > UINT32_MAX) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

// A global variable is written as the index of its address in the table: [[3], "pointer"], or [3].
std::optional<std::uint64_t> global_of(const Json& value, const std::vector<std::uint64_t>& pointers) {
  const Json& plain = without_type(value);
  if (!plain.is_array()) return number_of(plain);
  const auto index = plain.size() == 1 ? number_of(plain[0]) : std::nullopt;
  return index && *index < pointers.size() ? std::optional(pointers[static_cast<std::size_t>(*index)]) : std::nullopt;
}

template <class Map>
auto value_at(const Map& map, std::string_view name) -> std::optional<typename Map::mapped_type> {
  const auto found = map.find(name);
  return found == map.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Header> header_in_file(std::vector<std::byte> file, std::uint64_t base, std::uint32_t rva) {
  const PeImage image = PeImage::parse(file);
  const ByteMemory memory(file);
  const auto headers = ImageHeaders::read(memory, 0);
  if (image.error() != PeError::none || !headers) return std::nullopt;
  relocate(file, image, headers->directory(kRelocationTable), base);
  const auto bytes = image.bytes_at(rva, sizeof(Header));
  if (!bytes) return std::nullopt;
  Header header;
  std::memcpy(&header, bytes->data(), sizeof header);
  return header;
}

const Json* member(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() || !found->is_object() ? nullptr : &*found;
}

// What a descriptor's header leads to.
struct Content {
  std::string text;
  std::vector<std::uint64_t> pointers;
};

std::optional<Content> content_of(const MemoryReader& memory, const std::optional<Header>& header) {
  if (!header || header->magic != kMagic || (header->flags & kPointersOf4Bytes) != 0 || header->bytes > kMaxBytes ||
      header->pointer_count > kMaxPointers) {
    return std::nullopt;
  }
  Content content{std::string(header->bytes, '\0'), std::vector<std::uint64_t>(header->pointer_count)};
  if (!memory.read(header->text, content.text.data(), content.text.size()) ||
      !memory.read(header->pointers, content.pointers.data(), content.pointers.size() * sizeof(std::uint64_t))) {
    return std::nullopt;
  }
  return content;
}

// The descriptors inside a descriptor, of the format's version 2: each of the variables that "subDescriptors" names
// holds the address of one, or 0.
std::vector<Content> parts_of(const MemoryReader& memory, const Content& whole) {
  std::vector<Content> parts;
  constexpr std::string_view kParts = "subDescriptors";
  if (whole.text.find(kParts) == std::string::npos) return parts;
  const Json json = Json::parse(whole.text, nullptr, /*allow_exceptions=*/false, /*ignore_comments=*/true);
  const Json* const named = json.is_object() ? member(json, kParts.data()) : nullptr;
  if (named == nullptr) return parts;
  for (const Json& value : *named) {
    if (parts.size() == kMaxParts) break;
    const auto variable = global_of(value, whole.pointers);
    const auto address = variable ? memory.read_value<std::uint64_t>(*variable) : std::nullopt;
    if (!address || *address == 0) continue;
    if (auto part = content_of(memory, memory.read_value<Header>(*address))) parts.push_back(std::move(*part));
  }
  return parts;
}

}  // namespace

std::optional<std::uint32_t> ContractDescriptor::find(const MemoryReader& memory, std::uint64_t runtime_base) {
  return export_rva(memory, runtime_base, kExport);
}

std::optional<ContractDescriptor> ContractDescriptor::read(const MemoryReader& memory, std::uint64_t runtime_base,
                                                           std::uint32_t rva, std::vector<std::byte> file) {
  auto header = memory.read_value<Header>(runtime_base + rva);
  if (!header) header = header_in_file(std::move(file), runtime_base, rva);
  const auto whole = content_of(memory, header);
  auto descriptor = whole ? parse(whole->text, whole->pointers) : std::nullopt;
  if (!descriptor) return std::nullopt;
  // A part has no parts of its own in .NET 11, so those would not be read.
  for (const Content& content : parts_of(memory, *whole)) {
    const auto part = parse(content.text, content.pointers);
    if (!part) continue;
    for (const auto& [name, type] : part->types_) {
      if (type.bytes) descriptor->add_size(name, *type.bytes);
      for (const auto& [field, offset] : type.fields) descriptor->add_offset(name, field, offset);
    }
    for (const auto& [name, value] : part->globals_) descriptor->add_global(name, value);
    for (const auto& [name, version] : part->contracts_) descriptor->add_contract(name, version);
  }
  return descriptor;
}

std::optional<ContractDescriptor> ContractDescriptor::parse(std::string_view text,
                                                            const std::vector<std::uint64_t>& pointers) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false, /*ignore_comments=*/true);
  if (!json.is_object()) return std::nullopt;
  ContractDescriptor descriptor;
  const auto version = json.find("version");
  if (version == json.end() || !version->is_number_unsigned()) return std::nullopt;
  descriptor.version_ = version->get<std::uint64_t>();
  if (const Json* types = member(json, "types")) {
    for (const auto& [name, fields] : types->items()) {
      if (!fields.is_object()) continue;
      for (const auto& [field, value] : fields.items()) {
        const auto offset = offset_of(value);
        if (!offset) continue;
        if (field == kSize) {
          descriptor.add_size(name, *offset);
        } else {
          descriptor.add_offset(name, field, *offset);
        }
      }
    }
  }
  if (const Json* globals = member(json, "globals")) {
    for (const auto& [name, value] : globals->items()) {
      if (const auto known = global_of(value, pointers)) descriptor.add_global(name, *known);
    }
  }
  if (const Json* contracts = member(json, "contracts")) {
    for (const auto& [name, value] : contracts->items()) {
      if (value.is_number_unsigned()) {
        descriptor.contracts_[name] = std::to_string(value.get<std::uint64_t>());
      } else if (value.is_string()) {
        descriptor.contracts_[name] = value.get<std::string>();
      }
    }
  }
  return descriptor;
}

std::optional<std::uint32_t> ContractDescriptor::offset(std::string_view type, std::string_view field) const {
  const auto found = types_.find(type);
  return found == types_.end() ? std::nullopt : value_at(found->second.fields, field);
}

std::optional<std::uint32_t> ContractDescriptor::size(std::string_view type) const {
  const auto found = types_.find(type);
  return found == types_.end() ? std::nullopt : found->second.bytes;
}

std::optional<std::uint64_t> ContractDescriptor::global(std::string_view name) const {
  return value_at(globals_, name);
}

std::string ContractDescriptor::contract(std::string_view name) const {
  return value_at(contracts_, name).value_or(std::string());
}

void ContractDescriptor::add_offset(std::string_view type, std::string_view field, std::uint32_t offset) {
  types_[std::string(type)].fields.try_emplace(std::string(field), offset);
}

void ContractDescriptor::add_size(std::string_view type, std::uint32_t bytes) {
  Type& known = types_[std::string(type)];
  if (!known.bytes) known.bytes = bytes;
}

void ContractDescriptor::add_global(std::string_view name, std::uint64_t value) {
  globals_.try_emplace(std::string(name), value);
}

void ContractDescriptor::add_contract(std::string_view name, std::string_view version) {
  contracts_.try_emplace(std::string(name), version);
}

}  // namespace mixwalk
