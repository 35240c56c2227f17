#include "walker/clr/contracts/code_versions.h"

namespace mixwalk {
namespace {

// The limit for versions of one method's code. Each tier and each loop that was replaced while it ran makes one.
constexpr int kMaxVersions = 1000;

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

}  // namespace mixwalk
