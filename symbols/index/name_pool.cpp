#include "symbols/index/name_pool.h"

#include <cstring>
#include <functional>

namespace mixwalk {
namespace {

using Length = std::uint32_t;
constexpr std::uint32_t kAlign = 4;       // an id counts in this unit, so it can address 16 GiB
constexpr std::size_t kFirstSlots = 256;  // a power of two

std::size_t hash_of(std::string_view text) noexcept {
  // A multiplication mixes the low bits, which choose the slot, so that any library's hash is good enough.
  return (std::hash<std::string_view>()(text) * 0x9E3779B97F4A7C15ull) >> 20;
}

}  // namespace

NamePool::NamePool() {
  static_assert(kMaxName + sizeof(Length) + kAlign <= kBlockBytes);
  slots_.assign(kFirstSlots, kNoName);
  append({});  // number 0
}

NameId NamePool::append(std::string_view text) {
  const std::uint32_t bytes =
      (static_cast<std::uint32_t>(sizeof(Length) + text.size()) + kAlign - 1) & ~(kAlign - 1);
  if (bytes > kBlockBytes - used_) {
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(kBlockBytes));
    used_ = 0;
  }
  const auto length = static_cast<Length>(text.size());
  char* const at = blocks_.back().get() + used_;
  std::memcpy(at, &length, sizeof length);
  if (length != 0) std::memcpy(at + sizeof length, text.data(), length);
  const auto id = static_cast<NameId>((blocks_.size() - 1) * (kBlockBytes / kAlign) + used_ / kAlign);
  used_ += bytes;
  return id;
}

std::string_view NamePool::text(NameId id) const noexcept {
  const std::size_t block = id / (kBlockBytes / kAlign);
  if (block >= blocks_.size()) return {};
  const char* const at = blocks_[block].get() + (id % (kBlockBytes / kAlign)) * kAlign;
  Length length;
  std::memcpy(&length, at, sizeof length);
  return {at + sizeof length, length};
}

NameId NamePool::intern(std::string_view text) {
  text = text.substr(0, kMaxName);
  if (text.empty()) return kNoName;
  if (count_ * 2 >= slots_.size()) grow();
  for (std::size_t at = hash_of(text);; ++at) {
    NameId& slot = slots_[at & (slots_.size() - 1)];
    if (slot != kNoName) {
      if (this->text(slot) == text) return slot;
      continue;
    }
    if (blocks_.size() * std::size_t{kBlockBytes} >= kMaxBytes &&
        kBlockBytes - used_ < sizeof(Length) + kAlign + text.size()) {
      full_ = true;
      return kNoName;
    }
    slot = append(text);
    ++count_;
    return slot;
  }
}

void NamePool::grow() {
  std::vector<NameId> larger(slots_.size() * 2, kNoName);
  for (const NameId id : slots_) {
    if (id == kNoName) continue;
    std::size_t at = hash_of(text(id));
    while (larger[at & (larger.size() - 1)] != kNoName) ++at;
    larger[at & (larger.size() - 1)] = id;
  }
  slots_.swap(larger);
}

std::size_t NamePool::bytes() const noexcept {
  return blocks_.size() * std::size_t{kBlockBytes} + slots_.size() * sizeof(NameId);
}

}  // namespace mixwalk
