#include "unmanaged/image/imports.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace mixwalk {
namespace {

// Limits: some ten times what the largest known images have. Tables may share their bytes, and a small file must not
// expand into much memory.
constexpr std::uint32_t kMaxImages = 4096;
constexpr std::size_t kMaxImports = 1'000'000;

constexpr std::uint64_t kByOrdinal = std::uint64_t{1} << 63;
constexpr std::uint32_t kHintBytes = 2;  // in front of an imported name

struct ImportDescriptor {
  std::uint32_t lookup_table, timestamp, forwarder_chain, image_name, address_table;
};
static_assert(sizeof(ImportDescriptor) == 20);

struct DelayDescriptor {
  std::uint32_t attributes, image_name, module_handle, address_table, name_table, bound_table, unload_table,
      timestamp;
};
static_assert(sizeof(DelayDescriptor) == 32);
constexpr std::uint32_t kByRva = 1;  // if not set, the fields are addresses, which no x64 linker writes

template <class T>
std::optional<T> at_rva(const PeImage& image, std::uint64_t rva) noexcept {
  if (rva > UINT32_MAX) return std::nullopt;
  const auto bytes = image.bytes_at(static_cast<std::uint32_t>(rva), sizeof(T));
  if (!bytes) return std::nullopt;
  T value;
  std::memcpy(&value, bytes->data(), sizeof value);
  return value;
}

// Adds the imports from one image: `names` and `slots` are tables of equal length, and a zero ends `names`.
void add(const PeImage& image, std::string_view from, std::uint32_t names, std::uint32_t slots, bool delayed,
         std::vector<Import>& to) {
  for (std::uint64_t at = 0; to.size() < kMaxImports; at += 8) {
    const auto entry = at_rva<std::uint64_t>(image, names + at);
    if (!entry || *entry == 0 || slots + at > UINT32_MAX) return;
    Import import{.slot = static_cast<std::uint32_t>(slots + at), .image = from, .delayed = delayed};
    if ((*entry & kByOrdinal) != 0) {
      import.ordinal = static_cast<std::uint16_t>(*entry);
    } else {
      if (*entry > UINT32_MAX - kHintBytes) continue;
      import.name = image.text_at(static_cast<std::uint32_t>(*entry) + kHintBytes);
      if (import.name.empty()) continue;
    }
    to.push_back(import);
  }
}

}  // namespace

Imports::Imports(const PeImage& image) {
  if (image.error() != PeError::none) return;
  const std::uint64_t loaded = image.import_table();
  for (std::uint32_t i = 0; loaded != 0 && i < kMaxImages; ++i) {
    const auto from = at_rva<ImportDescriptor>(image, loaded + i * sizeof(ImportDescriptor));
    if (!from || from->image_name == 0 || from->address_table == 0) break;
    // Some linkers write only one of the tables. The loader overwrites that table in memory, not in the file.
    const std::uint32_t names = from->lookup_table != 0 ? from->lookup_table : from->address_table;
    add(image, image.text_at(from->image_name), names, from->address_table, false, imports_);
  }
  const std::uint64_t delayed = image.delay_import_table();
  for (std::uint32_t i = 0; delayed != 0 && i < kMaxImages; ++i) {
    const auto from = at_rva<DelayDescriptor>(image, delayed + i * sizeof(DelayDescriptor));
    if (!from || from->image_name == 0) break;
    if ((from->attributes & kByRva) == 0) continue;
    add(image, image.text_at(from->image_name), from->name_table, from->address_table, true, imports_);
  }
  const auto by_slot = [](const Import& left, const Import& right) { return left.slot < right.slot; };
  std::stable_sort(imports_.begin(), imports_.end(), by_slot);
  // If two entries claim the same slot, both are left out, because the slot's content is not known.
  std::vector<Import> kept;
  for (auto at = imports_.begin(); at != imports_.end();) {
    const auto next = std::upper_bound(at, imports_.end(), *at, by_slot);
    if (next - at == 1) kept.push_back(*at);
    at = next;
  }
  imports_ = std::move(kept);
}

const Import* Imports::at(std::uint32_t slot) const noexcept {
  const auto found =
      std::lower_bound(imports_.begin(), imports_.end(), slot,
                       [](const Import& import, std::uint32_t value) { return import.slot < value; });
  return found != imports_.end() && found->slot == slot ? &*found : nullptr;
}

}  // namespace mixwalk
