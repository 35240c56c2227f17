#include "symbols/pdb/cross_module.h"

#include "symbols/byte_cursor.h"

namespace mixwalk {
namespace {

constexpr std::uint32_t kExports = 0xF8;  // DEBUG_S_CROSSSCOPEEXPORTS
// An import's number consists of a bit that marks it, the module's index, and the function's index in the module.
constexpr unsigned kModuleBits = 11, kFunctionBits = 20;

}  // namespace

void read_imports(std::span<const std::byte> subsection, std::vector<PdbImport>& into) {
  ByteCursor cursor(subsection);
  while (cursor.left() != 0) {
    PdbImport import{.module = cursor.u32()};
    import.references = cursor.take(std::size_t{cursor.u32()} * 4);
    if (cursor.failed()) return;
    into.push_back(import);
  }
}

void read_exports(std::span<const std::byte> subsection,
                  std::unordered_map<std::uint32_t, std::uint32_t>& into) {
  ByteCursor cursor(subsection);
  while (cursor.left() >= 8) {
    const std::uint32_t own = cursor.u32();
    into.try_emplace(own, cursor.u32());
  }
}

std::unordered_map<std::uint32_t, std::uint32_t> read_all_exports(std::span<const std::byte> c13) {
  std::unordered_map<std::uint32_t, std::uint32_t> exports;
  ByteCursor cursor(c13);
  while (cursor.left() >= 8) {
    const std::uint32_t kind = cursor.u32();
    const auto data = cursor.take(cursor.u32());
    if (cursor.failed()) break;
    if (kind == kExports) read_exports(data, exports);
    if (cursor.left() != 0) cursor.align(4);
  }
  return exports;
}

std::optional<ForeignFunction> find_import(std::uint32_t id, std::span<const PdbImport> imports) noexcept {
  const std::uint32_t module = id >> kFunctionBits & ((1u << kModuleBits) - 1);
  const std::size_t function = id & ((1u << kFunctionBits) - 1);
  if (!is_import(id) || module >= imports.size()) return std::nullopt;
  const auto references = imports[module].references;
  if (function >= references.size() / 4) return std::nullopt;
  return ForeignFunction{imports[module].module, ByteCursor(references.subspan(function * 4)).u32()};
}

}  // namespace mixwalk
