#include <cstdint>
#include <cstdlib>
#include <span>

#include "tests/builders/runtime_builder.h"
#include "unmanaged/step/byte_memory.h"
#include "walker/clr/contracts/code_versions.h"
#include "walker/clr/contracts/debug_info.h"
#include "walker/clr/contracts/il_bounds.h"
#include "walker/clr/contracts/native_array.h"
#include "walker/clr/contracts/runtime_fields.h"
#include "walker/clr/contracts/runtime_names.h"

namespace {

using namespace mixwalk;

// Bytes that begin at the builder's first address.
class Shifted final : public MemoryReader {
 public:
  explicit Shifted(std::span<const std::byte> bytes) : bytes_(bytes) {}
  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    return bytes_.read(address - test::RuntimeBuilder::kBegin, into, bytes);
  }
  std::size_t read_up_to(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    return bytes_.read_up_to(address - test::RuntimeBuilder::kBegin, into, bytes);
  }

 private:
  ByteMemory bytes_;
};

void check(bool holds) {
  if (!holds) std::abort();
}

void read_runtime(const MemoryReader& memory, std::size_t size) {
  static const auto kDescriptor = ContractDescriptor::parse(test::RuntimeBuilder().descriptor(), {});
  const RuntimeReader reader(memory, *kDescriptor);
  RuntimeModules modules(reader);
  RuntimeNames names(reader, modules);
  constexpr std::uint64_t kBegin = test::RuntimeBuilder::kBegin;
  const std::uint64_t end = kBegin + std::min<std::size_t>(size, 1024);
  for (std::uint64_t at = kBegin; at < end; at += 16) {
    check(names.method(at).name.size() < 1 << 20);
    for (const std::uint64_t type : {at, at | 2}) check(names.type_name(type).size() < 1 << 20);
    fields_of_type(reader, modules, at);
    modules.assembly_of(at);
    const CodeBlock jitted{.code = {.method = at, .start = at}, .header = at};
    il_map_of(reader, jitted);
    il_map_of(reader, CodeBlock{.code = {.image_base = kBegin}, .ready_to_run = at, .function = 1});
    is_of_replaced_il(reader, jitted);
  }
  modules.without_metadata();
}

}  // namespace

// Any bytes must give names, maps and fields, or none: as the data of a runtime, as a map of IL, and as a sparse array.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  for (const auto form : {IlBoundsForm::nibbles, IlBoundsForm::packed, IlBoundsForm::packed_fat}) {
    find_il_bounds(bytes, form);
    const auto map = read_il_bounds(bytes, form, 4096);
    check(!map || map->size() <= 8 * size);
  }
  const ByteMemory array(bytes);
  for (const std::uint32_t index : {0u, 1u, 9u, 25u}) find_in_native_array(array, 0, index);
  read_runtime(Shifted(bytes), size);
  return 0;
}
