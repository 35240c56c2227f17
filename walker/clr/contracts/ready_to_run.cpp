#include "walker/clr/contracts/ready_to_run.h"

#include <algorithm>
#include <array>

#include "unmanaged/step/pdata.h"

namespace mixwalk {
namespace {

// The last of sorted rows for which `before` holds; nothing if there is none, or if a row cannot be read. `row_at`:
// returns a row, or nothing.
template <class RowAt, class Before>
std::optional<std::uint32_t> last_row(std::uint32_t count, RowAt row_at, Before before) {
  std::uint32_t first = 0, last = count;
  while (first < last) {
    const std::uint32_t middle = first + (last - first) / 2;
    const auto row = row_at(middle);
    if (!row) return std::nullopt;
    if (before(*row)) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first == 0 ? std::nullopt : std::optional(first - 1);
}

// The largest images have some 200,000 functions.
constexpr std::uint32_t kMaxFunctions = 1 << 24;
// The limit for buckets of the hash map that one look-up reads, for a method and all its funclets. A usual look-up
// reads one or two, and a method has a few funclets.
constexpr int kMaxBuckets = 1 << 15;
// A hash map's key is never one of the lowest numbers; they have this added.
constexpr std::uint64_t kLowKeys = 1, kAddedToLowKeys = 100;
constexpr std::size_t kSlots = 4;  // of a bucket

// The functions of an image, sorted by address.
class Functions {
 public:
  Functions(const RuntimeReader& reader, std::uint64_t info) : reader_(reader) {
    const auto count = reader.field<std::uint32_t>(info, "ReadyToRunInfo", "NumRuntimeFunctions");
    const auto table = reader.field(info, "ReadyToRunInfo", "RuntimeFunctions");
    if (!count || !table || *count > kMaxFunctions) return;
    count_ = *count;
    table_ = *table;
  }

  std::uint32_t count() const { return count_; }
  std::optional<FunctionEntry> at(std::uint32_t index) const {
    return reader_.value<FunctionEntry>(table_ + sizeof(FunctionEntry) * std::uint64_t{index});
  }

  // The index of the last function that begins at or before `rva`.
  std::optional<std::uint32_t> index_of(std::uint32_t rva) const {
    return last_row(count_, [&](std::uint32_t i) { return at(i); },
                    [rva](const auto& entry) { return entry.begin <= rva; });
  }

 private:
  const RuntimeReader& reader_;
  std::uint64_t table_ = 0;
  std::uint32_t count_ = 0;
};

// Pairs of indices, sorted: the first function of a method's cold part, and the method's hot function.
class HotColdMap {
 public:
  HotColdMap(const RuntimeReader& reader, std::uint64_t info) : reader_(reader) {
    const auto count = reader.field<std::uint32_t>(info, "ReadyToRunInfo", "NumHotColdMap");
    const auto map = reader.field(info, "ReadyToRunInfo", "HotColdMap");
    if (!count || !map || *count > 2 * kMaxFunctions) return;
    pairs_ = *count / 2;
    map_ = *map;
  }

  struct Pair {
    std::uint32_t cold = 0, hot = 0;
  };

  // The pair with a method's cold part, if the function is in a cold part.
  std::optional<Pair> of_cold(std::uint32_t function) const {
    return last_pair([&](const Pair& pair) { return pair.cold <= function; });
  }

  // The pair of a method's hot function.
  std::optional<Pair> of_hot(std::uint32_t function) const {
    const auto pair = last_pair([&](const Pair& pair) { return pair.hot <= function; });
    return pair && pair->hot == function ? pair : std::nullopt;
  }

 private:
  template <class Before>
  std::optional<Pair> last_pair(Before before) const {
    const auto row = [&](std::uint32_t i) { return reader_.value<Pair>(map_ + sizeof(Pair) * std::uint64_t{i}); };
    const auto last = last_row(pairs_, row, before);
    return last ? row(*last) : std::nullopt;
  }

  const RuntimeReader& reader_;
  std::uint64_t map_ = 0;
  std::uint32_t pairs_ = 0;
};

// The runtime's map from the entry points of methods to their MethodDescs.
class EntryPoints {
 public:
  EntryPoints(const RuntimeReader& reader, std::uint64_t info) : reader_(reader) {
    const auto map = reader.address_of(info, "ReadyToRunInfo", "EntryPointToMethodDescMap");
    const auto buckets = map ? reader.field(*map, "HashMap", "Buckets") : std::nullopt;
    const auto bytes = reader.descriptor().size("Bucket");
    const auto keys = reader.descriptor().offset("Bucket", "Keys");
    const auto values = reader.descriptor().offset("Bucket", "Values");
    const auto mask = reader.global("HashMapValueMask");
    if (!buckets || !bytes || !keys || !values || !mask) return;
    // The place of a first bucket has the number of buckets.
    const auto size = reader.value<std::uint32_t>(*buckets);
    if (!size || *size < 2) return;
    buckets_ = *buckets + *bytes;
    size_ = *size;
    bytes_ = *bytes;
    keys_ = *keys;
    values_ = *values;
    mask_ = *mask;
  }

  // Returns 0 if there is none.
  std::uint64_t method_at(std::uint64_t entry_point) {
    const std::uint64_t key = entry_point > kLowKeys ? entry_point : entry_point + kAddedToLowKeys;
    if (size_ == 0) return 0;
    auto place = static_cast<std::uint32_t>(key >> 2);
    const std::uint32_t step = 1 + (static_cast<std::uint32_t>(key >> 5) + 1) % (size_ - 1);
    for (std::uint32_t i = 0; i < size_ && left_ > 0; ++i, place += step) {
      --left_;
      const std::uint64_t bucket = buckets_ + bytes_ * std::uint64_t{place % size_};
      const auto keys = reader_.value<std::array<std::uint64_t, kSlots>>(bucket + keys_);
      const auto values = reader_.value<std::array<std::uint64_t, kSlots>>(bucket + values_);
      if (!keys || !values) return 0;
      const auto found = std::ranges::find(*keys, key);
      // A pointer is stored without its lowest bit. The bit outside the mask says that the search goes on.
      if (found != keys->end()) return ((*values)[static_cast<std::size_t>(found - keys->begin())] & mask_) << 1;
      if (((*values)[0] & ~mask_) == 0) return 0;
    }
    return 0;
  }

  bool exhausted() const { return left_ <= 0; }

 private:
  const RuntimeReader& reader_;
  std::uint64_t buckets_ = 0, mask_ = 0;
  std::uint32_t size_ = 0, bytes_ = 0, keys_ = 0, values_ = 0;
  int left_ = kMaxBuckets;
};

}  // namespace

bool is_ready_to_run_thunk(const RuntimeReader& reader, const CodeSection& section, std::uint64_t ip) {
  const auto info = reader.field(section.module, "Module", "ReadyToRunInfo");
  const auto thunks = info ? reader.field(*info, "ReadyToRunInfo", "DelayLoadMethodCallThunks") : std::nullopt;
  if (!thunks || *thunks == 0) return false;
  const auto rva = reader.field<std::uint32_t>(*thunks, "ImageDataDirectory", "VirtualAddress");
  const auto bytes = reader.field<std::uint32_t>(*thunks, "ImageDataDirectory", "Size");
  return rva && bytes && ip >= section.begin + *rva && ip - section.begin - *rva < *bytes;
}

std::optional<CodeBlock> ready_to_run_code_at(const RuntimeReader& reader, const CodeSection& section,
                                              std::uint64_t ip) {
  const std::uint64_t base = section.begin;
  const auto info = reader.field(section.module, "Module", "ReadyToRunInfo");
  if (!info || *info == 0 || ip - base > UINT32_MAX || is_ready_to_run_thunk(reader, section, ip)) return std::nullopt;
  const auto composite = reader.field(*info, "ReadyToRunInfo", "CompositeInfo");
  const std::uint64_t whole = composite.value_or(0) != 0 ? *composite : *info;
  const Functions functions(reader, *info);
  const HotColdMap parts(reader, *info);
  const auto rva = static_cast<std::uint32_t>(ip - base);
  auto index = functions.index_of(rva);
  if (!index) return std::nullopt;
  const auto of_cold = parts.of_cold(*index);
  if (of_cold) index = of_cold->hot;
  // A funclet has no entry in the map. It is behind its method.
  EntryPoints methods(reader, whole);
  CodeBlock block{.code = {.image_base = base}, .ready_to_run = whole};
  std::optional<FunctionEntry> function;
  for (block.function = *index;; --block.function) {
    function = functions.at(block.function);
    if (!function || methods.exhausted()) return std::nullopt;
    block.code.method = methods.method_at(base + function->begin);
    if (block.code.method != 0) break;
    if (block.function == 0) return std::nullopt;
  }
  block.code.start = base + function->begin;
  if (rva < function->begin && !of_cold) return std::nullopt;
  block.offset = rva - function->begin;
  if (const auto pair = of_cold ? of_cold : parts.of_hot(block.function)) {
    const auto cold = functions.at(pair->cold);
    if (!cold) return std::nullopt;
    block.code.cold_start = base + cold->begin;
    if (of_cold) block.offset = function->end - function->begin + (rva - cold->begin);
  }
  return block;
}

}  // namespace mixwalk
