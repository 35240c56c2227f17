#include "walker/clr/contracts/execution_map.h"

#include "walker/clr/contracts/nibble_map.h"
#include "walker/clr/contracts/range_map.h"
#include "walker/clr/contracts/ready_to_run.h"

namespace mixwalk {
namespace {

// The word before the code of a method leads to its header. Before a stub there is a small number instead.
struct CodeInHeap {
  std::uint64_t start = 0;
  std::uint64_t header = 0;
};

std::optional<CodeInHeap> code_in_heap(const RuntimeReader& reader, std::uint64_t heap, std::uint64_t ip) {
  const auto kind = reader.descriptor().contract("ExecutionManager") == "1" ? NibbleMapKind::linear
                                                                             : NibbleMapKind::constant_time;
  const auto start = code_start_at(reader, heap, ip, kind);
  const auto header = start && *start > 8 && *start <= ip ? reader.value(*start - 8) : std::nullopt;
  return header ? std::optional(CodeInHeap{*start, *header}) : std::nullopt;
}

// StubCodeBlockKind of the runtime's codeman.h, the same in .NET 9 and 10.
constexpr std::uint64_t kJumpStub = 1, kPrecode = 2, kDynamicHelper = 3;

}  // namespace

std::optional<CodeBlock> code_block_at(const RuntimeReader& reader, std::uint64_t ip) {
  const auto section = code_section_at(reader, ip);
  if (!section || section->stubs) return std::nullopt;
  if (section->module != 0) return ready_to_run_code_at(reader, *section, ip);
  const auto found = code_in_heap(reader, section->heap, ip);
  if (!found || found->header <= reader.global("StubCodeBlockLast").value_or(0)) return std::nullopt;
  const auto method = reader.field(found->header, "RealCodeHeader", "MethodDesc");
  const auto gc_info = reader.field(found->header, "RealCodeHeader", "GCInfo");
  if (!method || *method == 0 || !gc_info || ip - found->start > UINT32_MAX) return std::nullopt;
  CodeBlock block;
  block.code = {.method = *method, .start = found->start, .gc_info = *gc_info, .jitted = true};
  block.offset = static_cast<std::uint32_t>(ip - found->start);
  block.header = found->header;
  return block;
}

std::string stub_kind_at(const RuntimeReader& reader, std::uint64_t ip) {
  const auto section = code_section_at(reader, ip);
  if (!section || section->stubs) return {};
  if (section->module != 0) return is_ready_to_run_thunk(reader, *section, ip) ? "MethodCallThunk" : "";
  const auto found = code_in_heap(reader, section->heap, ip);
  if (!found) return {};
  if (found->header == kJumpStub) return "JumpStub";
  if (found->header == kPrecode) return "MethodDescPrestub";
  if (found->header == kDynamicHelper) return "MethodCallThunk";
  return {};
}

}  // namespace mixwalk
