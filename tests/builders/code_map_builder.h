#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/builders/paged_memory.h"
#include "unmanaged/step/pdata.h"
#include "walker/clr/contracts/descriptor.h"
#include "walker/clr/contracts/runtime_reader.h"

namespace mixwalk::test {

// The memory of an artificial .NET runtime, written by the layouts that the runtime's own descriptor names (those of
// .NET 10), and not by the readers.
class CodeMapBuilder {
 public:
  // Where things are. None of them is near another one.
  static constexpr std::uint64_t kVariables = 0x1'0000'0000, kMap = 0x1'1000'0000, kLevels = 0x1'2000'0000;
  static constexpr std::uint64_t kSections = 0x1'3000'0000, kHeap = 0x7FF8'1234'0000, kNibbles = 0x1'4000'0000;
  static constexpr std::uint64_t kImage = 0x7FF9'0000'0000, kModule = 0x1'5000'0000, kInfo = 0x1'5001'0000;
  static constexpr std::uint64_t kThreads = 0x1'6000'0000, kStore = 0x1'6100'0000, kSyncTable = 0x1'7000'0000;

  static constexpr std::string_view kDescriptor = R"({"version":0,"baseline":"empty","types":{
    "RangeSectionMap":{"TopLevelData":0},
    "RangeSectionFragment":{"Next":0,"RangeBegin":8,"RangeEndOpen":16,"RangeSection":24},
    "RangeSection":{"RangeBegin":0,"RangeEndOpen":8,"Flags":16,"JitManager":24,"R2RModule":32,"HeapList":40,
                    "NextForDelete":64},
    "CodeHeapListNode":{"Next":0,"StartAddress":16,"EndAddress":24,"MapBase":32,"HeaderMap":40},
    "RealCodeHeader":{"GCInfo":16,"MethodDesc":24,"NumUnwindInfos":32,"UnwindInfos":36},
    "Module":{"ReadyToRunInfo":608},
    "ReadyToRunInfo":{"CompositeInfo":40,"RuntimeFunctions":80,"NumRuntimeFunctions":88,"HotColdMap":96,
                      "NumHotColdMap":104,"DelayLoadMethodCallThunks":112,"EntryPointToMethodDescMap":336},
    "ImageDataDirectory":{"VirtualAddress":0,"Size":4},
    "HashMap":{"Buckets":16},"Bucket":{"!":64,"Keys":0,"Values":32},
    "Thread":{"Id":16,"OSId":304,"State":0,"PreemptiveGCDisabled":4,"GCHandle":312,"RuntimeThreadLocals":32,
              "LinkNext":[120,"pointer"],"ExceptionTracker":320},
    "ExceptionInfo":{"PreviousNestedInfo":0,"ThrownObject":8},
    "ThreadStore":{"FirstThreadLink":64,"ThreadCount":88},
    "RuntimeThreadLocals":{"AllocContext":0},"EEAllocContext":{"GCAllocationContext":8},
    "GCAllocContext":{"Pointer":0,"Limit":8},
    "SyncBlock":{"InteropInfo":56},"SyncTableEntry":{"!":16,"SyncBlock":0}},
    "globals":{"StubCodeBlockLast":["0xf","uint8"],"HashMapValueMask":["0x7fffffffffffffff","uint64"],
               "AppDomain":[[1],"pointer"],"ThreadStore":[[2],"pointer"],"GCThread":[[3],"pointer"],
               "SyncTableEntries":[[4],"pointer"],"ExecutionManagerCodeRangeMapAddress":[[5],"pointer"]},
    "contracts":{"CodeVersions":1,"EcmaMetadata":1,"ExecutionManager":2,"Loader":1,"Object":1,"ReJIT":1,
                 "RuntimeTypeSystem":1,"Thread":1}})";

  static std::uint64_t variable(int number) { return kVariables + 8 * static_cast<std::uint64_t>(number); }

  static ContractDescriptor descriptor(std::string_view text = kDescriptor) {
    return *ContractDescriptor::parse(text, {0, variable(1), variable(2), variable(3), variable(4), kMap});
  }

  PagedMemory memory;

  void put64(std::uint64_t address, std::uint64_t value) { memory.put(address, value); }
  void put32(std::uint64_t address, std::uint32_t value) { memory.put(address, value); }

  // Enters a section into the map of code, before the ones in the same 128 KiB. Returns the RangeSection. `mark` is
  // added to each pointer of the map.
  std::uint64_t add_section(std::uint64_t begin, std::uint64_t end, std::uint64_t heap, std::uint64_t module,
                            std::uint32_t flags = 0, std::uint64_t mark = 0) {
    const std::uint64_t section = next_section_;
    next_section_ += 0x100;
    put64(section, begin);
    put64(section + 8, end);
    put32(section + 16, flags);
    put64(section + 32, module);
    put64(section + 40, heap);
    put64(section + 64, 0);
    for (std::uint64_t at = begin >> 17; at <= (end - 1) >> 17; ++at) {
      const std::uint64_t entry = entry_of(at << 17, mark);
      const std::uint64_t fragment = next_section_;
      next_section_ += 0x100;
      put64(fragment, memory.read_value<std::uint64_t>(entry).value_or(0));
      put64(fragment + 8, begin);
      put64(fragment + 16, end);
      put64(fragment + 24, section);
      put64(entry, fragment + mark);
    }
    return section;
  }

  // A code heap of 1 MiB at kHeap, whose map is at kNibbles. Returns the CodeHeapListNode.
  std::uint64_t add_heap() {
    const std::uint64_t node = kNibbles - 0x1000;
    put64(node + 16, kHeap);
    put64(node + 24, kHeap + 0x10'0000);
    put64(node + 32, kHeap);
    put64(node + 40, kNibbles);
    for (std::uint64_t at = 0; at < 0x10'0000 / 0x100 * 4; at += 8) put64(kNibbles + at, 0);
    add_section(kHeap, kHeap + 0x10'0000, node, 0, 2);
    return node;
  }

  // Notes in the heap's map that code begins at this offset, a multiple of 4.
  void begin_code(std::uint32_t offset) {
    const std::uint64_t word = kNibbles + offset / 0x100 * 4;
    const std::uint32_t shift = 28 - offset % 0x100 / 32 * 4;
    put32(word, memory.read_value<std::uint32_t>(word).value_or(0) | (offset % 32 / 4 + 1) << shift);
  }
  // Notes that the 256 bytes at this offset are code that begins at `start`.
  void cover(std::uint32_t offset, std::uint32_t start) {
    put32(kNibbles + offset / 0x100 * 4, (start & ~0xFu) + (start % 16 / 4) + 9);
  }
  // A method's header, and the pointer to the header before the code.
  void put_header(std::uint32_t offset, std::uint64_t header, std::uint64_t method, std::uint64_t gc_info) {
    put64(kHeap + offset - 8, header);
    put64(header, 0);
    put64(header + 16, gc_info);
    put64(header + 24, method);
  }

  // A ReadyToRun image at kImage, of 16 MiB, with these functions. Returns the section.
  std::uint64_t add_image(const std::vector<FunctionEntry>& functions,
                          const std::vector<std::uint32_t>& hot_cold = {}) {
    put64(kModule + 608, kInfo);
    put64(kInfo + 40, 0);
    put64(kInfo + 80, kInfo + 0x1000);
    put32(kInfo + 88, static_cast<std::uint32_t>(functions.size()));
    put64(kInfo + 96, kInfo + 0x8000);
    put32(kInfo + 104, static_cast<std::uint32_t>(hot_cold.size()));
    put64(kInfo + 112, 0);
    put64(kInfo + 336 + 16, kInfo + 0xA000);
    for (std::size_t i = 0; i < functions.size(); ++i) memory.put(kInfo + 0x1000 + 12 * i, functions[i]);
    for (std::size_t i = 0; i < hot_cold.size(); ++i) memory.put(kInfo + 0x8000 + 4 * i, hot_cold[i]);
    put32(kInfo + 0xA000, kBuckets);
    for (std::uint64_t at = 0; at < 64 * kBuckets; at += 8) put64(kInfo + 0xA040 + at, 0);
    return add_section(kImage, kImage + 0x100'0000, 0, kModule);
  }
  static constexpr std::uint32_t kBuckets = 7;

  // Enters a method at an RVA of the image into the map of entry points, as the runtime does.
  void add_method(std::uint32_t rva, std::uint64_t method) {
    const std::uint64_t key = kImage + rva;
    auto place = static_cast<std::uint32_t>(key >> 2);
    const std::uint32_t step = 1 + (static_cast<std::uint32_t>(key >> 5) + 1) % (kBuckets - 1);
    for (;; place += step) {
      const std::uint64_t bucket = kInfo + 0xA040 + 64 * std::uint64_t{place % kBuckets};
      for (std::uint64_t slot = 0; slot < 4; ++slot) {
        if (memory.read_value<std::uint64_t>(bucket + 8 * slot) != 0u) continue;
        const std::uint64_t marked = slot == 0 ? mark_of(bucket) : 0;
        put64(bucket + 8 * slot, key);
        put64(bucket + 32 + 8 * slot, method >> 1 | marked);
        return;
      }
      put64(bucket + 32, *memory.read_value<std::uint64_t>(bucket + 32) | 1ull << 63);
    }
  }

 private:
  std::uint64_t mark_of(std::uint64_t bucket) const {
    return *memory.read_value<std::uint64_t>(bucket + 32) & 1ull << 63;
  }

  // The entry of the last level for an address.
  std::uint64_t entry_of(std::uint64_t address, std::uint64_t mark) {
    std::uint64_t table = kMap;
    for (int level = 4; level > 0; --level) {
      const std::uint64_t entry = table + 8 * (address >> (17 + 8 * level) & 0xFF);
      std::uint64_t next = memory.read_value<std::uint64_t>(entry).value_or(0);
      if (next == 0) {
        next = next_level_ + mark;
        next_level_ += 0x800;
        put64(entry, next);
        for (std::uint64_t at = 0; at < 0x800; at += 8) put64((next & ~1ull) + at, 0);
      }
      table = next & ~1ull;
    }
    return table + 8 * (address >> 17 & 0xFF);
  }

  std::uint64_t next_section_ = kSections, next_level_ = kLevels;
};

}  // namespace mixwalk::test
