#include "symbols/win/clr_il_source.h"

#include <algorithm>
#include <array>
#include <optional>

#include "symbols/win/metadata_types.h"
#include "symbols/win/module_file.h"
#include "unmanaged/win/utf8.h"

namespace mixwalk {
namespace {

// The limit for versions of one function's code: one for each tier, and one for each loop that was replaced while it
// ran.
constexpr ULONG32 kMaxVersions = 64;
// The limit for the pieces of one version of a function. These pieces are hot and cold code.
constexpr ULONG32 kMaxPieces = 4;
// The numbers of entries of one function's map; a line has a few.
constexpr ULONG32 kUsualEntries = 256, kMaxEntries = 1 << 16;

// Returns the offset of an address from the beginning of the code, counted as if the pieces were contiguous; nothing if
// the address is in none of the pieces.
std::optional<std::uint32_t> offset_in(std::span<const clr::CodeInfo> pieces, std::uint64_t ip) {
  std::uint64_t before = 0;
  for (const clr::CodeInfo& piece : pieces) {
    if (ip - piece.start < piece.size) return static_cast<std::uint32_t>(before + (ip - piece.start));
    before += piece.size;
  }
  return std::nullopt;
}

// The beginning of the memory that was allocated as one, an image for example.
const void* allocation_of(const void* address) {
  MEMORY_BASIC_INFORMATION memory{};
  return VirtualQuery(address, &memory, sizeof memory) != 0 ? memory.AllocationBase : nullptr;
}

}  // namespace

const ClrIlSource::Place& ClrIlSource::find(clr::FunctionID function, std::uint64_t ip) {
  const auto known = places_.find(ip);
  if (known != places_.end()) return known->second;
  if (places_.size() == kMaxPlaces) places_.clear();
  return places_.emplace(ip, ask(function, ip)).first->second;
}

const ClrIlSource::Place* ClrIlSource::known(std::uint64_t ip) const {
  const auto known = places_.find(ip);
  return known == places_.end() ? nullptr : &known->second;
}

void ClrIlSource::forget_code() {
  places_.clear();
  modules_.clear();
}

void ClrIlSource::clear() {
  forget_code();
  assemblies_.clear();
}

ClrIlSource::Place ClrIlSource::ask(clr::FunctionID function, std::uint64_t ip) {
  clr::ModuleID module = 0;
  Place place;
  if (info9_ == nullptr || FAILED(info_->GetFunctionInfo2(function, 0, nullptr, &module, &place.method, 0,
                                                          nullptr, nullptr))) {
    return {};
  }
  if (!is_of_file(module, place.method) || !find_offset(function, ip, place.offset)) return {};
  place.assembly = assembly_of(module);
  return place.assembly < 0 ? Place() : place;
}

// Hot reload keeps the IL of a changed or added method outside the image, and so do profilers that replace IL before it
// is compiled. The PDB says nothing about such IL. Code that was compiled before the change has no line either: nothing
// says how many changes lie behind it.
bool ClrIlSource::is_of_file(clr::ModuleID module, clr::Token method) const {
  const BYTE *image = nullptr, *body = nullptr;
  ULONG units = 0, bytes = 0;
  if (FAILED(info_->GetModuleInfo(module, &image, 0, &units, nullptr, nullptr)) || image == nullptr) return true;
  if (FAILED(info_->GetILFunctionBody(module, method, &body, &bytes)) || body == nullptr) return true;
  return allocation_of(body) == allocation_of(image);
}

bool ClrIlSource::find_offset(clr::FunctionID function, std::uint64_t ip, std::uint32_t& il_offset) {
  std::array<UINT_PTR, kMaxVersions> starts;
  ULONG32 versions = 0;
  // ReJIT 0 means the IL that no profiler has replaced by ReJIT. The PDB says nothing about any other version.
  if (FAILED(info9_->GetNativeCodeStartAddresses(function, 0, kMaxVersions, &versions, starts.data()))) {
    return false;
  }
  for (const UINT_PTR start : std::span(starts).first(std::min(versions, kMaxVersions))) {
    std::array<clr::CodeInfo, kMaxPieces> pieces;
    ULONG32 count = 0;
    if (FAILED(info9_->GetCodeInfo4(start, kMaxPieces, &count, pieces.data()))) continue;
    const auto offset = offset_in(std::span(pieces).first(std::min(count, kMaxPieces)), ip);
    if (!offset) continue;
    const auto found = read_map(start) ? il_offset_at(map_, *offset) : std::nullopt;
    if (found) il_offset = *found;
    return found.has_value();
  }
  return false;
}

bool ClrIlSource::read_map(UINT_PTR start) {
  ULONG32 count = 0;
  map_.resize(std::max<std::size_t>(map_.size(), kUsualEntries));
  const auto read = [&] {
    const auto capacity = static_cast<ULONG32>(map_.size());
    return SUCCEEDED(info9_->GetILToNativeMapping3(start, capacity, &count, map_.data()));
  };
  if (!read()) return false;
  if (count > map_.size()) {
    map_.resize(std::min(count, kMaxEntries));
    if (!read()) return false;
  }
  map_.resize(std::min<std::size_t>(count, map_.size()));
  return true;
}

std::int32_t ClrIlSource::assembly_of(clr::ModuleID module) {
  const auto [at, fresh] = modules_.try_emplace(module, -1);
  if (!fresh) return at->second;
  const ModuleMetadata metadata(*info_, module);
  Assembly assembly{.path = to_utf8(module_file(*info_, module))};
  if (!metadata.mvid(assembly.mvid)) return -1;
  assembly.optimised =
      may_be_optimised(metadata.assembly_attribute(L"System.Diagnostics.DebuggableAttribute"));
  return at->second = place_of(assembly, assemblies_);
}

}  // namespace mixwalk
