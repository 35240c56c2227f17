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
#include "walker/clr/dac/win/clr_process.h"
#include "walker/clr/dac/win/memory_target.h"
#include "walker/clr/dac/win/sos_dac.h"
#include "walker/clr/object_questions.h"
#include "walker/clr/thread_objects.h"
#include "walker/target/page_cache.h"

namespace mixwalk {

// A runtime's debugging library (the DAC, mscordaccore.dll) in this process, over the memory of a target. The library
// is foreign code, and works on memory which may be damaged or forged, so it may hang or crash. Therefore mixwalk.exe
// loads it only in a worker process (clr_worker.h). One thread at a time.
class DacLibrary final : public ObjectQuestions {
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
  ClrIlPlaces il_places(std::span<const std::uint64_t> ips) override;
  ClrIlPlaces machine_places(std::span<const std::uint64_t> method_tables) override;
  void target_ran() override;

 private:
  DacLibrary(const MemoryReader& memory, std::uint64_t runtime_base)
      : cache_(memory), target_(cache_, runtime_base) {}

  template <class Visit>
  void each_thread(Visit visit);  // visit(address of the runtime's Thread, its ThreadData, whether it pauses)
  // Returns null if the module has no metadata that the library finds.
  const ModuleMetadata* metadata_of(std::uint64_t module);
  const MemoryReader& memory() const override { return cache_; }
  std::string object_type(std::uint64_t object) override;
  bool is_object(std::uint64_t object, std::uint64_t method_table) override;
  ManagedHeap read_heap(HeapDeadline deadline) override;
  void add_heap(const dac::GcHeapDetails& details, HeapParts& parts, HeapTypes& types, HeapDeadline deadline);
  std::string type_name(std::uint64_t method_table) override;
  ClrType read_type(std::uint64_t method_table) override;
  // Adds the fields that one type declares itself. `inherited`: the number of those of its base types. Returns false if
  // they cannot be read.
  bool add_own_fields(std::uint64_t method_table, int inherited, bool value, std::vector<ClrField>& fields);
  // Returns the offset of the code at `ip` in the method's IL. For code that corresponds to no IL, this is the offset
  // of the code before it, as il_offset_at() gives it. Returns nothing if the library gives none.
  static std::optional<std::uint32_t> il_offset(dac::IClrMethodInstance& method, std::uint64_t ip, const ClrCode& code);
  // Whether hot reload, or a profiler, has put other IL in the place of that of the module's file.
  bool has_replaced_il(dac::IClrMethodInstance& method, std::uint64_t of_module);
  // Returns nothing if no method has code there.
  ComPointer<dac::IClrMethodInstance> method_around(std::uint64_t ip);
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
  std::unordered_map<std::uint64_t, std::optional<Assembly>> assemblies_;  // by the same address
  ThreadObjects thread_objects_;
};

}  // namespace mixwalk
