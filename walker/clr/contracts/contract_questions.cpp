#include "walker/clr/contracts/contract_questions.h"

#include <chrono>
#include <string_view>

#include "symbols/il_map.h"
#include "walker/clr/contracts/code_versions.h"
#include "walker/clr/contracts/contract_heap.h"
#include "walker/clr/contracts/contract_tables.h"
#include "walker/clr/contracts/debug_info.h"
#include "walker/clr/contracts/execution_map.h"
#include "walker/clr/contracts/method_tables.h"
#include "walker/clr/contracts/method_il.h"
#include "walker/clr/contracts/runtime_check.h"
#include "walker/clr/contracts/runtime_fields.h"
#include "walker/clr/contracts/runtime_methods.h"
#include "walker/clr/contracts/runtime_threads.h"
#include "walker/clr/contracts/sync_blocks.h"
#include "walker/clr/dac_search.h"

namespace mixwalk {
namespace {

// Answers that are kept. A walk of a thousand threads asks for some ten thousand.
constexpr std::size_t kMaxKept = 200'000;
// The time limit for the places in IL of all frames together.
constexpr std::chrono::seconds kIlPlacesTime{10};
// The code of a state machine (IAsyncStateMachine).
constexpr std::string_view kMoveNextMethod = "MoveNext";

}  // namespace

Outcome<std::unique_ptr<ContractQuestions>> ContractQuestions::open(const Target& target) {
  const Module* const runtime = runtime_image(target.modules(), target.memory());
  if (runtime == nullptr) return Failure{ExitCode::internal, target.runtime().name + " does not describe its data"};
  bool small_dump = false;
  auto descriptor = known_contracts(target.memory(), runtime->base, [&] {
    small_dump = true;
    return target.file_of(*runtime).value_or(std::vector<std::byte>());
  });
  if (!descriptor) return descriptor.failure();
  std::unique_ptr<ContractQuestions> questions(new ContractQuestions(target, std::move(*descriptor)));
  std::string wrong = check_runtime(questions->reader_, questions->names_, small_dump);
  if (!wrong.empty()) return Failure{ExitCode::internal, std::move(wrong)};
  return questions;
}

ContractQuestions::ContractQuestions(const Target& target, ContractDescriptor descriptor)
    : reader_(target.memory(), std::move(descriptor)), modules_(reader_, &target) {}

const std::optional<CodeBlock>& ContractQuestions::block_at(std::uint64_t ip) {
  if (const auto known = blocks_.find(ip); known != blocks_.end()) return known->second;
  if (blocks_.size() == kMaxKept) blocks_.clear();
  return blocks_[ip] = code_block_at(reader_, ip);
}

std::optional<ClrCode> ContractQuestions::code_at(std::uint64_t ip) {
  const auto& block = block_at(ip);
  return block ? std::optional(block->code) : std::nullopt;
}

ClrMethod ContractQuestions::method(std::uint64_t method) {
  if (const auto known = methods_.find(method); known != methods_.end()) return known->second;
  if (methods_.size() == kMaxKept) methods_.clear();
  return methods_[method] = names_.method(method);
}

std::string ContractQuestions::code_name(std::uint64_t address) {
  std::string kind = stub_kind_at(reader_, address);
  return kind.empty() ? std::string() : "CLRStub[" + std::move(kind) + ']';
}

std::vector<ClrThread> ContractQuestions::threads() { return runtime_threads(reader_); }

std::vector<ClrThreadExceptions> ContractQuestions::handled_exceptions() {
  return runtime_exceptions(reader_, runtime_threads(reader_));
}

std::optional<ClrSyncBlocks> ContractQuestions::sync_blocks(std::uint32_t first) {
  return contract_sync_blocks(reader_, runtime_threads(reader_), first);
}

std::string ContractQuestions::object_type(std::uint64_t object) {
  const std::uint64_t type = reader_.value(object).value_or(0) & ~kCollectorMarks;
  return type == 0 || is_free_room(reader_, type) ? std::string() : names_.type_name(type);
}

ManagedHeap ContractQuestions::read_heap(HeapDeadline deadline) {
  return contract_heap(reader_, runtime_threads(reader_), deadline);
}

ClrType ContractQuestions::read_type(std::uint64_t method_table) {
  if (!is_method_table(reader_, method_table)) return {};
  const ObjectBytes bytes = object_bytes_of(reader_, method_table);
  const bool free = is_free_room(reader_, method_table);
  return {.name = free ? "Free" : names_.type_name(method_table),
          .parent = reader_.field(method_table, "MethodTable", "ParentMethodTable").value_or(0),
          .fields = fields_of_type(reader_, modules_, method_table),
          .base_bytes = bytes.base,
          .component_bytes = bytes.component};
}

ClrIlPlaces ContractQuestions::il_places(std::span<const std::uint64_t> ips) {
  ClrIlPlaces found;
  const auto end = std::chrono::steady_clock::now() + kIlPlacesTime;
  for (const std::uint64_t ip : ips) {
    ClrIlPlaces::Place& place = found.places.emplace_back();
    if (std::chrono::steady_clock::now() >= end) continue;
    const auto& block = block_at(ip);
    const auto method = block ? runtime_method_at(reader_, block->code.method) : std::nullopt;
    if (!method || method->dynamic || is_of_replaced_il(reader_, *block)) continue;
    if (is_reloaded(reader_, method->module, method->token)) continue;
    const auto offset = il_offset_at(il_map_of(reader_, *block), block->offset);
    const Assembly* const assembly = offset ? modules_.assembly_of(method->module) : nullptr;
    if (assembly == nullptr) continue;
    place = {{place_of(*assembly, found.assemblies), method->token, *offset}, block->code.method};
  }
  return found;
}

ClrIlPlaces ContractQuestions::machine_places(std::span<const std::uint64_t> method_tables) {
  ClrIlPlaces found;
  const auto end = std::chrono::steady_clock::now() + kIlPlacesTime;
  for (const std::uint64_t table : method_tables) {
    ClrIlPlaces::Place& place = found.places.emplace_back();
    if (std::chrono::steady_clock::now() >= end) continue;
    const auto type = runtime_type_at(reader_, table);
    const MetadataNames* const metadata = type ? modules_.metadata_of(type->module) : nullptr;
    const std::uint32_t method = metadata != nullptr ? metadata->method_named(type->token, kMoveNextMethod) : 0;
    if (method == 0 || is_reloaded(reader_, type->module, method)) continue;
    const Assembly* const assembly = modules_.assembly_of(type->module);
    if (assembly != nullptr) place = {{place_of(*assembly, found.assemblies), method, 0}, table};
  }
  return found;
}

std::vector<ClrIlStep> ContractQuestions::il_of(std::uint64_t method) {
  const auto found = runtime_method_at(reader_, method);
  return found && !found->dynamic ? il_of_token(found->module, found->token) : std::vector<ClrIlStep>();
}

std::vector<ClrIlStep> ContractQuestions::il_of(std::uint64_t type, std::string_view name) {
  if (!is_method_table(reader_, type)) {
    const auto method = runtime_method_at(reader_, type);
    type = method && !method->dynamic ? method->type : 0;
  }
  const auto found = runtime_type_at(reader_, type);
  if (!found || found->kind != RuntimeType::Kind::declared) return {};
  const MetadataNames* const names = modules_.metadata_of(found->module);
  return names != nullptr ? il_of_token(found->module, method_of_type(*names, found->token, name))
                          : std::vector<ClrIlStep>();
}

// Code that a profiler has replaced has another IL than the image; so does code that hot reload has changed.
std::vector<ClrIlStep> ContractQuestions::il_of_token(std::uint64_t module, std::uint32_t token) {
  constexpr unsigned kRva = 0;
  const MetadataNames* const names = modules_.metadata_of(module);
  const auto base = reader_.field(module, "Module", "Base");
  if (names == nullptr || base.value_or(0) == 0 || !is_of_table(token, MetadataTable::method_def)) return {};
  if (is_reloaded(reader_, module, token)) return {};
  const auto rva = names->tables().cell(MetadataTable::method_def, row_of(token), kRva);
  return rva ? il_steps(method_il(reader_.memory(), *base, *rva), *names) : std::vector<ClrIlStep>();
}

std::vector<RuntimeCall> ContractQuestions::calls_of(std::uint32_t os_id, const StackCopy& stack) {
  const auto newest = newest_frames_.of(reader_, os_id);
  if (!newest) return {};
  return explicit_frames(reader_, *newest, stack, [this](std::uint64_t ip) {
    const auto& block = block_at(ip);
    return block ? block->code.method : 0;
  });
}

void ContractQuestions::target_ran() {
  ObjectQuestions::target_ran();
  reader_.drop();
  blocks_.clear();
  methods_.clear();
  modules_.clear();
  newest_frames_.target_ran();
}

}  // namespace mixwalk
