#include "walker/clr/contracts/contract_heap.h"

#include <algorithm>
#include <array>

#include "walker/clr/contracts/method_tables.h"
#include "walker/clr/contracts/runtime_threads.h"

namespace mixwalk {
namespace {

constexpr std::uint8_t kMajorVersion = 2;
// The limit for generations. There are five: three for usual objects, one for large and one for pinned ones.
constexpr std::uint64_t kMaxGenerations = 8;
constexpr std::uint64_t kMaxGenerationBytes = 64 << 10;
constexpr std::uint32_t kMaxHeaps = 1024;
constexpr std::uint64_t kMaxHeapFieldOffset = 1 << 20;
// The size of the smallest object. There is always room for one after the memory that a thread has taken.
constexpr std::uint64_t kSmallestObject = 24;

// The beginning of GcDacVars. All but the first fields are addresses of variables. If the collector has one heap in all
// (workstation GC), those of the table of heaps are 0.
struct GcVariables {
  std::uint8_t major, minor;
  std::uint64_t generation_bytes;
  std::uint64_t generations;
  std::uint64_t build_variant, built_with_server;
  std::uint64_t global_mechanisms;
  std::uint64_t generation_table;
  std::uint64_t max_generation;
  std::uint64_t mark_array;
  std::uint64_t background_state;
  std::uint64_t ephemeral_segment;
  std::uint64_t saved_ephemeral_segment, saved_ephemeral_start;
  std::uint64_t background_lowest, background_highest;
  std::uint64_t allocated;
  std::uint64_t next_sweep;
  std::uint64_t out_of_memory;
  std::uint64_t finalize_queue;
  std::uint64_t root_array, root_array_index, analyze_success;
  std::uint64_t heap_count;
  std::uint64_t heaps;
  std::uint64_t structures_invalid;
  std::uint64_t interesting_data, compact_reasons, expand_mechanisms, mechanism_bits;
  std::uint64_t handle_table_map;
  std::uint64_t heap_field_offsets;
  std::uint64_t generation_field_offsets;
};

// Indices into the table of the offsets of the fields of a heap (dac_gcheap_fields.h) ...
constexpr int kHeapAllocated = 0, kHeapEphemeralSegment = 1, kHeapGenerations = 18;
// ... and of a generation (dac_generation_fields.h).
constexpr int kGenerationContext = 0, kGenerationSegment = 1;

// dac_heap_segment.
struct Segment {
  std::uint64_t allocated, committed, reserved, used, begin, flags, next, background_allocated, heap;
};
static_assert(sizeof(Segment) == 72);

// One of the collector's heaps: one in all, or one for each processor.
struct OneHeap {
  std::uint64_t generations = 0;
  std::uint64_t ephemeral_segment = 0;
  std::uint64_t allocated = 0;  // the end of the objects in that segment
};

class HeapReader {
 public:
  HeapReader(const RuntimeReader& reader, ManagedHeap& heap, HeapDeadline deadline)
      : reader_(reader), heap_(heap), deadline_(deadline) {}

  void read() {
    const auto at = reader_.variable("GcDacVars");
    const auto variables = at ? reader_.value<GcVariables>(*at) : std::nullopt;
    if (!variables || variables->major != kMajorVersion || variables->generation_bytes > kMaxGenerationBytes) return;
    variables_ = *variables;
    if (reader_.value<std::uint32_t>(variables_.structures_invalid) != 0u) return;
    if (variables_.heaps == 0) {
      add(whole_heap());
    } else {
      const std::uint32_t count = reader_.value<std::uint32_t>(variables_.heap_count).value_or(0);
      const std::uint64_t heaps = reader_.value(variables_.heaps).value_or(0);
      for (std::uint32_t i = 0; i < std::min(count, kMaxHeaps); ++i) {
        add(processor_heap(reader_.value(heaps + 8 * std::uint64_t{i}).value_or(0)));
      }
    }
    heap_.parts = parts_.take();
  }

 private:
  std::optional<std::uint64_t> offset(std::uint64_t table, int index) const {
    const auto offset = reader_.value<std::int32_t>(table + 4 * static_cast<std::uint64_t>(index));
    return offset && *offset >= 0 && static_cast<std::uint64_t>(*offset) < kMaxHeapFieldOffset
               ? std::optional(static_cast<std::uint64_t>(*offset))
               : std::nullopt;
  }

  std::optional<OneHeap> whole_heap() const {
    const auto segment = reader_.value(variables_.ephemeral_segment), allocated = reader_.value(variables_.allocated);
    if (!segment || !allocated) return std::nullopt;
    return OneHeap{variables_.generation_table, *segment, *allocated};
  }

  std::optional<OneHeap> processor_heap(std::uint64_t heap) const {
    const auto field_at = [&](int index) -> std::optional<std::uint64_t> {
      const auto at = offset(variables_.heap_field_offsets, index);
      return at && heap != 0 ? std::optional(heap + *at) : std::nullopt;
    };
    const auto generations = field_at(kHeapGenerations);
    const auto segment_at = field_at(kHeapEphemeralSegment), allocated_at = field_at(kHeapAllocated);
    const auto segment = segment_at ? reader_.value(*segment_at) : std::nullopt;
    const auto allocated = allocated_at ? reader_.value(*allocated_at) : std::nullopt;
    if (!generations || !segment || !allocated) return std::nullopt;
    return OneHeap{*generations, *segment, *allocated};
  }

  void add(const std::optional<OneHeap>& heap) {
    const auto segment_offset = offset(variables_.generation_field_offsets, kGenerationSegment);
    const auto context_offset = offset(variables_.generation_field_offsets, kGenerationContext);
    if (!heap || heap->generations == 0 || !segment_offset || !context_offset) return;
    const auto segment_at = [&](std::uint64_t at) -> std::optional<HeapSegment> {
      const auto segment = reader_.value<Segment>(at);
      if (!segment) return std::nullopt;
      const std::uint64_t end = at == heap->ephemeral_segment ? heap->allocated : segment->allocated;
      return HeapSegment{{segment->begin, end, segment->reserved}, segment->next};
    };
    for (std::uint64_t i = 0; i < std::min(variables_.generations, kMaxGenerations); ++i) {
      const std::uint64_t generation = heap->generations + i * variables_.generation_bytes;
      parts_.add_list(reader_.value(generation + *segment_offset).value_or(0), segment_at, deadline_);
    }
    const auto begin = reader_.value(heap->generations + *context_offset);
    const auto limit = reader_.value(heap->generations + *context_offset + 8);
    if (begin && limit) add_room({*begin, *limit}, heap_.types);
  }

 public:
  static void add_room(AllocationRoom room, HeapTypes& types) {
    if (room.begin != 0 && room.limit >= room.begin) types.free_room[room.begin] = room.limit + kSmallestObject;
  }

 private:
  const RuntimeReader& reader_;
  ManagedHeap& heap_;
  const HeapDeadline deadline_;
  GcVariables variables_{};
  HeapParts parts_;
};

}  // namespace

ManagedHeap contract_heap(const RuntimeReader& reader, std::span<const ClrThread> threads, HeapDeadline deadline) {
  ManagedHeap heap;
  HeapReader(reader, heap, deadline).read();
  for (const ClrThread& thread : threads) {
    HeapReader::add_room(allocation_room(reader, thread.address), heap.types);
  }
  heap.types.bytes_of = [&reader](std::uint64_t method_table) { return object_bytes_of(reader, method_table); };
  return heap;
}

}  // namespace mixwalk
