#include <cstdint>
#include <cstdlib>
#include <span>

#include "symbols/metadata/metadata_names.h"
#include "unmanaged/step/byte_memory.h"

namespace {

using namespace mixwalk;

void check(bool holds) {
  if (!holds) std::abort();
}

void read(const MetadataNames& names) {
  for (std::uint32_t table = 0; table < kMetadataTables; ++table) {
    for (std::uint32_t row = 0; row < 8; ++row) {
      const std::uint32_t token = table << 24 | row;
      check(names.type_name(token).size() <= 64 * MetadataTables::kMaxText);
      if (const auto method = names.method(token)) {
        check(method->signature.size() <= MetadataTables::kMaxBlob);
        format_parameters(method->signature, names, {});
      }
      names.field_name(token);
      names.generic_parameter_name(token);
      names.import_of(token);
      names.is_com_type(token);
      for (unsigned column = 0; column < 9; ++column) {
        names.tables().cell(static_cast<MetadataTable>(table), row, column);
      }
    }
  }
  names.mvid();
  names.assembly_name();
  names.assembly_attribute("System.Diagnostics.DebuggableAttribute");
}

}  // namespace

// Any bytes must give metadata, or none.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteMemory memory(std::as_bytes(std::span(data, size)));
  const auto streams = read_metadata_root(memory, 0, size);
  auto tables = streams ? MetadataTables::open(memory, *streams) : std::nullopt;
  if (tables) read(MetadataNames(std::move(*tables)));
  return 0;
}
