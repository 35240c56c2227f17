// Reads a runtime's data from memory in which every pointer may lead anywhere: each answer must end, whatever the data
// says. The input's first bytes choose the descriptor; the rest is the memory, over and over.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "symbols/il_map.h"
#include "tests/builders/code_map_builder.h"
#include "tests/builders/repeated_memory.h"
#include "walker/clr/contracts/code_versions.h"
#include "walker/clr/contracts/contract_heap.h"
#include "walker/clr/contracts/contract_tables.h"
#include "walker/clr/contracts/debug_info.h"
#include "walker/clr/contracts/execution_map.h"
#include "walker/clr/contracts/runtime_fields.h"
#include "walker/clr/contracts/runtime_modules.h"
#include "walker/clr/contracts/runtime_names.h"
#include "walker/clr/contracts/runtime_threads.h"
#include "walker/clr/contracts/sync_blocks.h"

using namespace mixwalk;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 24) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  ContractDescriptor::parse(input, {0, 1});
  std::uint64_t seed = 0;
  std::memcpy(&seed, data + 8, sizeof seed);
  const test::RepeatedMemory memory(input.substr(16));
  constexpr std::string_view kNet9 =
      R"({"version":0,"contracts":{"EcmaMetadata":1,"Loader":1,"Object":1,"RuntimeTypeSystem":1,"Thread":1}})";
  ContractDescriptor descriptor = (data[0] & 1) != 0 ? test::CodeMapBuilder::descriptor()
                                                     : test::CodeMapBuilder::descriptor(kNet9);
  complete(descriptor, memory, seed);
  const RuntimeReader reader(memory, descriptor);
  for (std::uint64_t i = 0; i < 8; ++i) {
    const std::uint64_t ip = seed + i * 0x1003;
    stub_kind_at(reader, ip);
    if (const auto block = code_block_at(reader, ip)) {
      il_map_of(reader, *block);
      is_of_replaced_il(reader, *block);
    }
  }
  const auto threads = runtime_threads(reader);
  runtime_exceptions(reader, {threads.data(), std::min<std::size_t>(threads.size(), 100)});
  contract_sync_blocks(reader, {threads.data(), std::min<std::size_t>(threads.size(), 100)}, 0x03FF'0000);
  contract_heap(reader, {}, std::chrono::steady_clock::now() + std::chrono::milliseconds(50));
  RuntimeModules modules(reader);
  RuntimeNames names(reader, modules);
  names.method(seed);
  names.type_name(seed & ~7ull);
  fields_of_type(reader, modules, seed & ~7ull);
  modules.assembly_of(seed);
  modules.path_of(seed);
  return 0;
}
