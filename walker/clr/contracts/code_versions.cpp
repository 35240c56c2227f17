#include "walker/clr/contracts/code_versions.h"

namespace mixwalk {
namespace {

// The limit for versions of one method's code. Each tier and each loop that was replaced while it ran makes one.
constexpr int kMaxVersions = 1000;

// Module.Flags: hot reload is possible.
constexpr std::uint32_t kEditAndContinue = 8;
// The table of a module's new IL: its entries begin with the token of a method, and free ones with 0.
constexpr std::uint32_t kEntryBytes = 16, kMaxEntries = 1u << 16;
constexpr std::uint32_t kMethodDef = 0x06, kTableShift = 24;

}  // namespace

bool is_of_replaced_il(const RuntimeReader& reader, const CodeBlock& block) {
  const auto data = reader.field(block.code.method, "MethodDesc", "CodeData");
  const auto state = data ? reader.field(*data, "MethodDescCodeData", "VersioningState") : std::nullopt;
  auto node = state ? reader.field(*state, "MethodDescVersioningState", "NativeCodeVersionNode") : std::nullopt;
  for (int i = 0; i < kMaxVersions && node.value_or(0) != 0; ++i) {
    if (reader.field(*node, "NativeCodeVersionNode", "MethodDesc") != block.code.method) return false;
    if (reader.field(*node, "NativeCodeVersionNode", "NativeCode") == block.code.start) {
      return reader.field(*node, "NativeCodeVersionNode", "ILVersionId").value_or(0) != 0;
    }
    node = reader.field(*node, "NativeCodeVersionNode", "Next");
  }
  return false;  // the first version has no entry, and is of the original IL
}

bool is_reloaded(const RuntimeReader& reader, std::uint64_t module, std::uint32_t token) {
  const auto flags = reader.field<std::uint32_t>(module, "Module", "Flags");
  if (!flags || (*flags & kEditAndContinue) == 0) return false;
  const auto table = reader.field(module, "Module", "DynamicILBlobTable");  // 0 as long as nothing has changed
  const auto entries = table ? reader.field(*table, "DynamicILBlobTable", "Table") : std::nullopt;
  const auto count = table ? reader.field<std::uint32_t>(*table, "DynamicILBlobTable", "TableSize") : std::nullopt;
  if (!entries || !count || *count > kMaxEntries) return false;
  for (std::uint32_t i = 0; i < *count; ++i) {
    const auto found = reader.value<std::uint32_t>(*entries + std::uint64_t{i} * kEntryBytes);
    if (!found || (*found != 0 && *found >> kTableShift != kMethodDef)) return false;  // another table
    if (*found == token) return true;
  }
  return false;
}

}  // namespace mixwalk
