#pragma once

#include <cstdint>

namespace mixwalk::dac {

// The structures that the runtime's debugging library fills in, in its memory layout on x64. The library's sources say
// that these structures never change. Fields that mixwalk does not use are kept as placeholders. Source: dacprivate.h
// of the runtime, public.

// DacpCodeHeaderData: the code around an address.
struct CodeHeaderData {
  std::uint64_t gc_info = 0;
  std::int32_t jit_type = 0;  // JITTypes: kJitted, kPrecompiled
  std::uint64_t method = 0;   // MethodDesc
  std::uint64_t start = 0;
  std::uint32_t bytes = 0;
  std::uint64_t cold_start = 0;
  std::uint32_t cold_bytes = 0;
  std::uint32_t hot_bytes = 0;
};
static_assert(sizeof(CodeHeaderData) == 0x38);
inline constexpr std::int32_t kJitted = 1, kPrecompiled = 2;

// DacpThreadStoreData.
struct ThreadStoreData {
  std::int32_t threads = 0, unstarted = 0, background = 0, pending = 0, dead = 0;
  std::uint64_t first_thread = 0;
  std::uint64_t finalizer_thread = 0;
  std::uint64_t gc_thread = 0;  // the one that pauses all managed code at this moment, as for a garbage collection
  std::uint32_t host_flags = 0;
};
static_assert(sizeof(ThreadStoreData) == 0x38);

// DacpThreadData.
struct ThreadData {
  std::uint32_t managed_id = 0;
  std::uint32_t os_id = 0;
  std::int32_t state = 0;
  std::uint32_t preemptive_gc_disabled = 0;
  std::uint64_t allocation = 0, allocation_limit = 0;
  std::uint64_t context = 0, domain = 0, frame = 0;
  std::uint32_t lock_count = 0;
  std::uint64_t first_nested_exception = 0;
  std::uint64_t teb = 0;
  std::uint64_t fiber_data = 0;
  std::uint64_t last_thrown = 0;
  std::uint64_t next_thread = 0;
};
static_assert(sizeof(ThreadData) == 0x68);

// CLRDATA_METHDEF_EXTENT.
struct MethodExtent {
  std::uint64_t begin = 0, end = 0;
  std::uint32_t version = 0, kind = 0;
};

// CLRDATA_MODULE_EXTENT.
struct ModuleExtent {
  std::uint64_t base = 0;
  std::uint32_t bytes = 0, kind = 0;
};

// DacpReJitData.
struct ReJitData {
  std::uint64_t id = 0;
  std::int32_t flags = 0;
  std::uint64_t code = 0;
};

// DacpMethodDescData.
struct MethodDescData {
  std::int32_t has_native_code = 0;
  std::int32_t is_dynamic = 0;  // a stub, or a method that the program made
  std::uint16_t slot = 0;
  std::uint64_t code = 0;
  std::uint64_t code_slot = 0;
  std::uint64_t method = 0;
  std::uint64_t method_table = 0;
  std::uint64_t module = 0;
  std::uint32_t token = 0;
  std::uint64_t gc_info = 0;
  std::uint64_t stress_copy = 0;
  std::uint64_t dynamic_object = 0;
  std::uint64_t requested_ip = 0;
  ReJitData current, requested;
  std::uint32_t rejitted_versions = 0;
};
static_assert(sizeof(MethodDescData) == 0x98);

// CLRDATA_IL_ADDRESS_MAP of xclrdata.idl: a range of code, and the IL offset to which the code belongs. Special values
// of the offset are those of IlToNative.
struct IlAddressMap {
  std::uint32_t il_offset = 0;
  std::uint64_t begin = 0, end = 0;
  std::int32_t source = 0;
};
static_assert(sizeof(IlAddressMap) == 0x20);

// DacpObjectData.
struct ObjectData {
  std::uint64_t method_table = 0;
  std::int32_t kind = 0;  // DacpObjectType: kFreeObject is room that the collector has left
  std::uint64_t bytes = 0;
  std::uint64_t element_type = 0;
  std::uint32_t element_kind = 0;
  std::uint32_t rank = 0;
  std::uint64_t components = 0, component_bytes = 0;
  std::uint64_t array_data = 0, array_bounds = 0, array_lower_bounds = 0;
  std::uint64_t rcw = 0, ccw = 0;
};
static_assert(sizeof(ObjectData) == 0x60);
inline constexpr std::int32_t kFreeObject = 1;

// DacpMethodTableData.
struct MethodTableData {
  std::int32_t is_free = 0;
  std::uint64_t module = 0;
  std::uint64_t type_class = 0, parent = 0;
  std::uint16_t interfaces = 0, methods = 0, slots = 0, virtuals = 0;
  std::uint32_t base_bytes = 0, component_bytes = 0;
  std::uint32_t token = 0, attributes = 0;
  std::int32_t is_shared = 0, is_dynamic = 0, has_pointers = 0;
};
static_assert(sizeof(MethodTableData) == 0x48);

// DacpMethodTableFieldData.
struct MethodTableFieldData {
  std::uint16_t instance_fields = 0, static_fields = 0, thread_static_fields = 0;
  std::uint64_t first_field = 0;  // a FieldDesc
  std::uint16_t context_static_offset = 0, context_static_bytes = 0;
};
static_assert(sizeof(MethodTableFieldData) == 0x18);

// DacpFieldDescData.
struct FieldDescData {
  std::int32_t kind = 0, kind_in_signature = 0;
  std::uint64_t type = 0;         // MethodTable
  std::uint64_t type_module = 0;
  std::uint32_t type_token = 0;
  std::uint32_t token = 0;        // FieldDef
  std::uint64_t method_table = 0;  // the MethodTable to which the field belongs
  std::uint32_t offset = 0;        // for an instance's field: counted from after the object's MethodTable
  std::int32_t is_thread_local = 0, is_context_local = 0, is_static = 0;
  std::uint64_t next_field = 0;
};
static_assert(sizeof(FieldDescData) == 0x40);

// DacpGcHeapData.
struct GcHeapData {
  std::int32_t is_server = 0;
  std::int32_t is_valid = 0;  // no collection is in progress
  std::uint32_t heaps = 0;
  std::uint32_t max_generation = 0;
};
static_assert(sizeof(GcHeapData) == 0x10);

// DacpGcHeapDetails, with DacpGenerationData.
struct GenerationData {
  std::uint64_t first_segment = 0;
  std::uint64_t allocation_start = 0;
  std::uint64_t allocation = 0, allocation_limit = 0;
};
struct GcHeapDetails {
  std::uint64_t heap = 0;
  std::uint64_t allocated = 0;  // the end of the objects in the ephemeral segment
  std::uint64_t mark_array = 0, state = 0, next_sweep = 0, sweep_segment = 0, sweep_start = 0;
  std::uint64_t background_lowest = 0, background_highest = 0;
  GenerationData generations[4];
  std::uint64_t ephemeral_segment = 0;
  std::uint64_t finalization[7] = {};
  std::uint64_t lowest = 0, highest = 0, card_table = 0;
};
static_assert(sizeof(GcHeapDetails) == 0x120);

// DacpHeapSegmentData: a segment or a region.
struct HeapSegmentData {
  std::uint64_t segment = 0;
  std::uint64_t allocated = 0;  // the end of its objects
  std::uint64_t committed = 0, reserved = 0, used = 0;
  std::uint64_t begin = 0;  // the beginning of its objects
  std::uint64_t next = 0;
  std::uint64_t heap = 0, high_allocation = 0, flags = 0, background_allocated = 0;
};
static_assert(sizeof(HeapSegmentData) == 0x58);

// DacpSyncBlockData. Sync blocks are numbered from 1 to `count`.
struct SyncBlockData {
  std::uint64_t object = 0;
  std::int32_t is_free = 0;  // if so, only `count` has a meaning
  std::uint64_t address = 0;
  std::uint32_t com_flags = 0;
  std::uint32_t held = 0;       // the lowest bit: held; the bits above: how many threads wait to enter
  std::uint32_t recursion = 0;  // how often the holding thread has entered it
  std::uint64_t holding_thread = 0;
  std::uint32_t pulse_waiters = 0;  // threads in Monitor.Wait; it only shows whether there are any, not how many
  std::uint64_t domain = 0;
  std::uint32_t count = 0;
};
static_assert(sizeof(SyncBlockData) == 0x48);

}  // namespace mixwalk::dac
