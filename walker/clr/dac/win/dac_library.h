#pragma once

#include <windows.h>

#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <string>
#include <vector>

#include "symbols/win/com_pointer.h"
#include "symbols/win/metadata_types.h"
#include "walker/base/failure.h"
#include "walker/clr/clr_questions.h"
#include "walker/clr/dac/win/clr_process.h"
#include "walker/clr/dac/win/memory_target.h"
#include "walker/clr/dac/win/sos_dac.h"
#include "walker/clr/heap_walk.h"
#include "walker/clr/lock_layout.h"
#include "walker/target/page_cache.h"

namespace mixwalk {

// A runtime's debugging library (the DAC, mscordaccore.dll) in this process, over the memory of a target. The library
// is foreign code, and works on memory which may be damaged or forged, so it may hang or crash. Therefore mixwalk.exe
// loads it only in a worker process (clr_worker.h). One thread at a time.
class DacLibrary final : public ClrQuestions {
 public:
  // `path`: UTF-8, absolute; the file is loaded unchecked. `memory` must outlive this object.
  static Outcome<std::unique_ptr<DacLibrary>> load(const std::string& path, const MemoryReader& memory,
                                                   std::uint64_t runtime_base);
  ~DacLibrary() override;

  std::optional<ClrCode> code_at(std::uint64_t ip) override;
  ClrMethod method(std::uint64_t method) override;
  std::string code_name(std::uint64_t address) override;
  std::vector<ClrThread> threads() override;
  std::optional<ClrSyncBlocks> sync_blocks(std::uint32_t first) override;
  std::vector<std::string> object_types(std::span<const std::uint64_t> objects) override;
  std::vector<std::string> heap_object_types(std::span<const std::uint64_t> addresses) override;
  std::vector<std::optional<ClrLock>> lock_objects(std::span<const std::uint64_t> objects) override;
  ClrIlPlaces il_places(std::span<const std::uint64_t> ips) override;
  void target_ran() override;
  std::string obstacle() const override { return {}; }

 private:
  DacLibrary(const MemoryReader& memory, std::uint64_t runtime_base)
      : cache_(memory), target_(cache_, runtime_base) {}

  template <class Visit>
  void each_thread(Visit visit);  // visit(address of the runtime's Thread, its ThreadData, whether it pauses)
  // Returns null if the module has no metadata that the library finds.
  const ModuleMetadata* metadata_of(std::uint64_t module);
  std::string object_type(std::uint64_t object);
  // The knowledge about the heap until the target runs. It has no parts if the heap cannot be read, or is being
  // collected.
  struct Heap {
    std::vector<HeapPart> parts;  // HeapParts::take()
    HeapTypes types;
  };
  // If the deadline passes, parts may be missing.
  Heap& heap(HeapDeadline deadline);
  void add_heap(const dac::GcHeapDetails& details, HeapParts& parts, HeapTypes& types, HeapDeadline deadline);
  // The addresses without those at which the heap has no object; sorted. An address is kept if the walk through the
  // heap does not reach it, because it is in or after memory that cannot be read, outside the known parts of the heap,
  // or because kHeapTime has passed.
  std::vector<std::uint64_t> living(std::span<const std::uint64_t> objects);
  // Returns null if this MethodTable is not that of such objects, or its fields are not the known ones.
  const LockLayout* lock_layout(std::uint64_t method_table);
  std::optional<LockLayout> read_lock_layout(std::uint64_t method_table);
  std::optional<ClrLock> lock_object(std::uint64_t object);
  // Returns the offset of the code at `ip` in the method's IL. For code that corresponds to no IL, this is the offset
  // of the code before it, as il_offset_at() gives it. Returns nothing if the library gives none.
  std::optional<std::uint32_t> il_offset(std::uint64_t ip, const ClrCode& code);
  // Returns null if the module has no MVID.
  const Assembly* assembly_of(std::uint64_t module);
  // The name from metadata. It has the parts that the library's own name leaves out. Returns an empty text if metadata
  // does not have it.
  std::string name_by_metadata(const dac::MethodDescData& data, const std::string& name);

  PageCache cache_;
  MemoryTarget target_;
  HMODULE library_ = nullptr;  // stays loaded, because nothing says that it can be unloaded
  ComPointer<dac::IClrProcess> process_;
  ComPointer<dac::ISosDac> sos_;
  std::unordered_map<std::uint64_t, ModuleMetadata> metadata_;  // by the address of the runtime's Module
  std::unordered_map<std::uint64_t, std::optional<Assembly>> assemblies_;       // by the same address
  std::unordered_map<std::uint64_t, std::optional<LockLayout>> lock_layouts_;  // by MethodTable
  std::optional<Heap> heap_;
};

}  // namespace mixwalk
