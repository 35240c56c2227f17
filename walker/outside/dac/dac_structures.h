#pragma once

#include <cstdint>

namespace mixwalk::dac {

// What the runtime's debugging library fills in, as it lies in memory on x64. The library says of these
// structures that they never change. Fields that mixwalk does not use keep their place.
// Source: dacprivate.h of the runtime, public.

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
  std::uint64_t gc_thread = 0;
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

// DacpObjectData.
struct ObjectData {
  std::uint64_t method_table = 0;
  std::int32_t kind = 0;  // DacpObjectType: kFreeObject is room that the collector left
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

// DacpSyncBlockData. Sync blocks are numbered from 1 to `count`.
struct SyncBlockData {
  std::uint64_t object = 0;
  std::int32_t is_free = 0;  // then nothing else has a meaning, but `count`
  std::uint64_t address = 0;
  std::uint32_t com_flags = 0;
  std::uint32_t held = 0;       // the lowest bit: held; above: how many threads wait to enter
  std::uint32_t recursion = 0;  // how often the holding thread has entered it
  std::uint64_t holding_thread = 0;
  std::uint32_t pulse_waiters = 0;  // threads in Monitor.Wait; not a true count: only whether there are some
  std::uint64_t domain = 0;
  std::uint32_t count = 0;
};
static_assert(sizeof(SyncBlockData) == 0x48);

}  // namespace mixwalk::dac
