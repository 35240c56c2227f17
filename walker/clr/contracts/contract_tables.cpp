#include "walker/clr/contracts/contract_tables.h"

#include <span>
#include <string>
#include <string_view>

#include "unmanaged/image/exports_name.h"
#include "walker/base/printable.h"

namespace mixwalk {
namespace {

struct Missing {
  std::string_view type, field;
  std::uint32_t offset;
};
struct MissingSize {
  std::string_view type;
  std::uint32_t bytes;
};
struct KnownContract {
  std::string_view name, version;
};

// Missing in both. Each was measured, and is checked where it is used: a sync block must name its entry, an entry's
// object must name the entry (sync_blocks.h), a FieldDesc must name its type (runtime_fields.h), a table of IL must
// have tokens of methods (code_versions.h).
constexpr Missing kMissing[] = {
    {"RealCodeHeader", "DebugInfo", 0},
    {"InlinedCallFrame", "Datum", 16},
    {"SyncTableEntry", "Object", 8},
    {"SyncBlock", "LockState", 0},
    {"SyncBlock", "Recursion", 4},
    {"SyncBlock", "Number", 28},
    {"SyncBlock", "Link", 72},
    {"FieldDesc", "MethodTable", 0},
    {"FieldDesc", "TokenAndFlags", 8},
    {"FieldDesc", "OffsetAndType", 12},
    {"ModuleLookupMap", "Next", 0},
    {"ModuleLookupMap", "Count", 16},
    {"ModuleLookupMap", "SupportedFlagsMask", 24},
    {"DynamicILBlobTable", "Table", 0},
    {"DynamicILBlobTable", "TableSize", 8},
};
constexpr MissingSize kMissingSizes[] = {{"FieldDesc", 16}};

// .NET 10.
constexpr Missing kMissingIn10[] = {
    {"Module", "DynamicILBlobTable", 696},
    {"SyncBlock", "OwnerId", 8},
    {"PatchpointInfo", "LocalCount", 16},
};
constexpr MissingSize kMissingSizesIn10[] = {{"PatchpointInfo", 40}};
constexpr KnownContract kContractsOf10[] = {
    {"CodeVersions", "1"}, {"EcmaMetadata", "1"}, {"ExecutionManager", "2"},  {"Loader", "1"},
    {"Object", "1"},       {"ReJIT", "1"},        {"RuntimeTypeSystem", "1"}, {"Thread", "1"},
};

// .NET 9. Nearly all of them are described by .NET 10, and are the same there. That they are right shows when the map
// of code finds the code of System.Private.CoreLib and its methods (ContractQuestions).
constexpr Missing kMissingIn9[] = {
    {"RangeSectionMap", "TopLevelData", 0},
    {"RangeSectionFragment", "Next", 0},
    {"RangeSectionFragment", "RangeBegin", 8},
    {"RangeSectionFragment", "RangeEndOpen", 16},
    {"RangeSectionFragment", "RangeSection", 24},
    {"RangeSection", "RangeBegin", 0},
    {"RangeSection", "RangeEndOpen", 8},
    {"RangeSection", "Flags", 16},
    {"RangeSection", "JitManager", 24},
    {"RangeSection", "R2RModule", 32},
    {"RangeSection", "HeapList", 40},
    {"RangeSection", "NextForDelete", 64},
    {"CodeHeapListNode", "Next", 0},
    {"CodeHeapListNode", "StartAddress", 16},
    {"CodeHeapListNode", "EndAddress", 24},
    {"CodeHeapListNode", "MapBase", 32},
    {"CodeHeapListNode", "HeaderMap", 40},
    {"RealCodeHeader", "GCInfo", 16},
    {"RealCodeHeader", "MethodDesc", 24},
    {"RealCodeHeader", "NumUnwindInfos", 32},
    {"RealCodeHeader", "UnwindInfos", 36},
    {"Module", "ReadyToRunInfo", 600},
    {"Module", "DynamicILBlobTable", 688},
    {"ReadyToRunInfo", "ReadyToRunHeader", 16},
    {"ReadyToRunInfo", "CompositeInfo", 40},
    {"ReadyToRunInfo", "RuntimeFunctions", 80},
    {"ReadyToRunInfo", "NumRuntimeFunctions", 88},
    {"ReadyToRunInfo", "HotColdMap", 96},
    {"ReadyToRunInfo", "NumHotColdMap", 104},
    {"ReadyToRunInfo", "DelayLoadMethodCallThunks", 112},
    {"ReadyToRunInfo", "EntryPointToMethodDescMap", 336},
    {"ReadyToRunHeader", "MajorVersion", 4},
    {"ReadyToRunHeader", "MinorVersion", 6},
    {"ImageDataDirectory", "VirtualAddress", 0},
    {"ImageDataDirectory", "Size", 4},
    {"HashMap", "Buckets", 16},
    {"Bucket", "Keys", 0},
    {"Bucket", "Values", 32},
    {"EEClass", "FieldDescList", 24},
    {"EEClass", "NumInstanceFields", 66},
    {"EEClass", "NumStaticFields", 70},
    {"GenericsDictInfo", "NumDicts", 4},
    {"SyncBlock", "OwnerThread", 8},
    {"PatchpointInfo", "LocalCount", 8},
    {"Frame", "Next", 8},
    {"InlinedCallFrame", "CallSiteSP", 24},
    {"InlinedCallFrame", "CallerReturnAddress", 32},
    {"InlinedCallFrame", "CalleeSavedFP", 40},
    {"FramedMethodFrame", "TransitionBlockPtr", 16},
    {"TransitionBlock", "CalleeSavedRegisters", 0},
    {"TransitionBlock", "ReturnAddress", 64},
    {"CalleeSavedRegisters", "Rdi", 0},
    {"CalleeSavedRegisters", "Rsi", 8},
    {"CalleeSavedRegisters", "Rbx", 16},
    {"CalleeSavedRegisters", "Rbp", 24},
    {"CalleeSavedRegisters", "R12", 32},
    {"CalleeSavedRegisters", "R13", 40},
    {"CalleeSavedRegisters", "R14", 48},
    {"CalleeSavedRegisters", "R15", 56},
};
constexpr MissingSize kMissingSizesIn9[] = {{"Bucket", 64}, {"PatchpointInfo", 32}, {"TransitionBlock", 72}};
constexpr KnownContract kContractsOf9[] = {
    {"EcmaMetadata", "1"}, {"Loader", "1"}, {"Object", "1"}, {"RuntimeTypeSystem", "1"}, {"Thread", "1"},
};

// The places of variables in g_dacTable, an array of pointers that the runtime exports for its debugging library.
constexpr std::uint32_t kCodeRangeMapPlace = 0, kGcPlaceIn9 = 20, kGcPlaceIn10 = 19;

constexpr std::string_view kDacTable = "g_dacTable";
constexpr std::string_view kNameTheFolder = "name the folder with coreclr.dll of its build with --symbol-path";

void add(ContractDescriptor& descriptor, std::span<const Missing> offsets, std::span<const MissingSize> sizes) {
  for (const Missing& missing : offsets) descriptor.add_offset(missing.type, missing.field, missing.offset);
  for (const MissingSize& missing : sizes) descriptor.add_size(missing.type, missing.bytes);
}

void add_variable(ContractDescriptor& descriptor, const MemoryReader& memory, std::string_view name,
                  std::uint64_t dac_table, std::uint32_t place) {
  if (dac_table == 0) return;
  const auto address = memory.read_value<std::uint64_t>(dac_table + 8 * std::uint64_t{place});
  if (address && *address != 0) descriptor.add_global(name, *address);
}

// The first contract with another version than the known one; empty if there is none.
std::string unknown_contract(const ContractDescriptor& descriptor, std::span<const KnownContract> known) {
  for (const auto& [name, version] : known) {
    const std::string found = descriptor.contract(name);
    if (found == version) continue;
    if (found.empty()) return "the runtime does not have the contract " + std::string(name);
    constexpr std::size_t kMaxVersion = 40;  // bytes; real ones have a few, and a forged text can have a million
    return "the runtime's contract " + std::string(name) + " " + printable(found, kMaxVersion) +
           " is newer than this mixwalk";
  }
  return {};
}

}  // namespace

std::string complete(ContractDescriptor& descriptor, const MemoryReader& memory, std::uint64_t dac_table) {
  const bool net9 = descriptor.contract("ExecutionManager").empty();
  if (std::string unknown = net9 ? unknown_contract(descriptor, kContractsOf9)
                                 : unknown_contract(descriptor, kContractsOf10);
      !unknown.empty()) {
    return unknown;
  }
  if (descriptor.version() != 0) {
    return "the format of the runtime's data contracts, version " + std::to_string(descriptor.version()) +
           ", is newer than this mixwalk";
  }
  add(descriptor, kMissing, kMissingSizes);
  if (net9) {
    add(descriptor, kMissingIn9, kMissingSizesIn9);
    descriptor.add_contract("ExecutionManager", "1");
    descriptor.add_global("StubCodeBlockLast", 0xF);
    descriptor.add_global("HashMapValueMask", 0x7FFF'FFFF'FFFF'FFFF);
    add_variable(descriptor, memory, "ExecutionManagerCodeRangeMapAddress", dac_table, kCodeRangeMapPlace);
    add_variable(descriptor, memory, "GcDacVars", dac_table, kGcPlaceIn9);
  } else {
    add(descriptor, kMissingIn10, kMissingSizesIn10);
    add_variable(descriptor, memory, "GcDacVars", dac_table, kGcPlaceIn10);
  }
  return {};
}

Outcome<ContractDescriptor> known_contracts(const MemoryReader& memory, std::uint64_t runtime_base,
                                            const std::function<std::vector<std::byte>()>& file) {
  const auto rva = ContractDescriptor::find(memory, runtime_base);
  if (!rva) {
    // .NET 8, 9 and 10 export this table.
    const bool exports = export_rva(memory, runtime_base, kDacTable).has_value();
    return Failure{ExitCode::internal, exports
                                           ? "the runtime does not describe its data"
                                           : "the runtime's image is not in memory; " + std::string(kNameTheFolder)};
  }
  auto descriptor = ContractDescriptor::read(memory, runtime_base, *rva);
  if (!descriptor && file) descriptor = ContractDescriptor::read(memory, runtime_base, *rva, file());
  if (!descriptor) {
    const bool there = memory.read_value<std::uint64_t>(runtime_base + *rva).has_value();
    return Failure{ExitCode::internal,
                   there ? "the runtime's data contracts are damaged, or only a part of them is in memory"
                         : "the runtime's data contracts are not in memory; " + std::string(kNameTheFolder)};
  }
  const auto table = export_rva(memory, runtime_base, kDacTable);
  std::string unknown = complete(*descriptor, memory, table ? runtime_base + *table : 0);
  if (!unknown.empty()) return Failure{ExitCode::internal, std::move(unknown)};
  return std::move(*descriptor);
}

}  // namespace mixwalk
