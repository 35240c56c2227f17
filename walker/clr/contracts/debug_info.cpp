#include "walker/clr/contracts/debug_info.h"

#include <array>
#include <cstddef>
#include <span>

#include "walker/clr/contracts/il_bounds.h"
#include "walker/clr/contracts/native_array.h"

namespace mixwalk {
namespace {

constexpr std::uint32_t kHeaderSignature = 0x00525452;  // "RTR", of a ReadyToRun header
constexpr std::uint32_t kDebugInfoSection = 105;
constexpr std::uint32_t kMaxSections = 256;       // there are some twenty
// The ReadyToRun version from which on maps are packed.
constexpr std::uint16_t kPackedFrom = 16;
// The limit for one map, in bytes. The largest methods of generated code have some hundred KB.
constexpr std::uint32_t kMaxBoundsBytes = 1u << 20;
// The most local variables of a method (ECMA-335 II.25.4.3), arguments not counted; a method has fewer than that.
constexpr std::uint32_t kMaxLocals = 1u << 17;

struct DebugInfo {
  std::uint64_t address = 0;
  IlBoundsForm form = IlBoundsForm::nibbles;
};

// The form that this runtime's JIT writes. .NET 9 and 10 do not describe the contract DebugInfo; 9 has version 1 of
// ExecutionManager (contract_tables.h).
IlBoundsForm form_of_jit(const ContractDescriptor& descriptor) {
  const std::string version = descriptor.contract("DebugInfo");
  if (version == "c1" || version == "2") return IlBoundsForm::packed_fat;
  if (version == "1") return IlBoundsForm::packed;
  return descriptor.contract("ExecutionManager") == "1" ? IlBoundsForm::nibbles : IlBoundsForm::packed;
}

// Skips what the JIT puts before the map: a byte that says what follows; for code that can be replaced while it runs,
// where its variables are; and on request the calls that were inlined.
std::optional<std::uint64_t> skip_extras(const RuntimeReader& reader, const CodeBlock& block, std::uint64_t at) {
  constexpr std::uint8_t kPatchpoints = 1, kInlined = 2;
  const auto flags = reader.value<std::uint8_t>(at++);
  if (!flags || (*flags & ~(kPatchpoints | kInlined)) != 0) return std::nullopt;
  if ((*flags & kPatchpoints) != 0) {
    const auto bytes = reader.descriptor().size("PatchpointInfo");
    const auto locals = reader.field<std::uint32_t>(at, "PatchpointInfo", "LocalCount");
    if (!bytes || !locals || *locals > kMaxLocals) return std::nullopt;
    // .NET 10 keeps the address of the code here, which shows whether the layout is the known one.
    const auto code = reader.address_of(at, "PatchpointInfo", "Tier0EntryPoint");
    if (code && reader.value(*code) != block.code.start) return std::nullopt;
    at += *bytes + 4 * std::uint64_t{*locals};
  }
  if ((*flags & kInlined) != 0) {
    const auto bytes = reader.value<std::uint32_t>(at);
    if (!bytes) return std::nullopt;
    at += 4 + std::uint64_t{*bytes};
  }
  return at;
}

std::optional<DebugInfo> of_jitted(const RuntimeReader& reader, const CodeBlock& block) {
  const auto info = reader.field(block.header, "RealCodeHeader", "DebugInfo");
  if (!info || *info == 0) return std::nullopt;
  const IlBoundsForm form = form_of_jit(reader.descriptor());
  if (form == IlBoundsForm::packed_fat) return DebugInfo{*info, form};
  const auto map = skip_extras(reader, block, *info);
  return map ? std::optional(DebugInfo{*map, form}) : std::nullopt;
}

// The address of a section of a ReadyToRun image. Returns nothing if the image has no such section.
// (docs/design/coreclr/botr/readytorun-format.md of the runtime: READYTORUN_HEADER.)
std::optional<std::uint64_t> section_of(const RuntimeReader& reader, std::uint64_t header, std::uint64_t image_base) {
  struct Section {
    std::uint32_t type, rva, bytes;
  };
  constexpr std::uint64_t kCount = 12, kSections = 16;
  const auto count = reader.value<std::uint32_t>(header + kCount);
  if (!count || *count > kMaxSections) return std::nullopt;
  for (std::uint32_t i = 0; i < *count; ++i) {
    const auto section = reader.value<Section>(header + kSections + sizeof(Section) * std::uint64_t{i});
    if (!section) return std::nullopt;
    if (section->type == kDebugInfoSection) return image_base + section->rva;
  }
  return std::nullopt;
}

// An element of the section is a distance back to debug information that it shares with another method, or 0 if its own
// follows.
std::optional<DebugInfo> of_ready_to_run(const RuntimeReader& reader, const CodeBlock& block) {
  const auto header = reader.field(block.ready_to_run, "ReadyToRunInfo", "ReadyToRunHeader");
  if (!header || reader.value<std::uint32_t>(*header) != kHeaderSignature) return std::nullopt;
  const auto version = reader.value<std::uint16_t>(*header + 4);
  const auto section = version ? section_of(reader, *header, block.code.image_base) : std::nullopt;
  const auto element = section ? find_in_native_array(reader.memory(), *section, block.function) : std::nullopt;
  const auto back = element ? read_native_number(reader.memory(), *element) : std::nullopt;
  if (!back) return std::nullopt;
  const IlBoundsForm form = *version < kPackedFrom ? IlBoundsForm::nibbles : IlBoundsForm::packed;
  return DebugInfo{back->value != 0 ? *element - back->value : back->next, form};
}

}  // namespace

std::vector<IlToNative> il_map_of(const RuntimeReader& reader, const CodeBlock& block) {
  const auto info = block.header != 0 ? of_jitted(reader, block) : of_ready_to_run(reader, block);
  if (!info) return {};
  std::array<std::byte, kMaxIlBoundsHeader> header;
  const std::size_t known = reader.memory().read_up_to(info->address, header.data(), header.size());
  const auto place = find_il_bounds(std::span(header).first(known), info->form);
  if (!place || place->bytes == 0 || place->bytes > kMaxBoundsBytes) return {};
  const auto bytes = reader.bytes(info->address + place->offset, place->bytes);
  if (!bytes) return {};
  const std::uint64_t code_bytes = block.code.hot_bytes + block.code.cold_bytes;
  return read_il_bounds(*bytes, info->form, code_bytes != 0 ? code_bytes : UINT32_MAX)
      .value_or(std::vector<IlToNative>());
}

}  // namespace mixwalk
