#include "walker/clr/dac/win/dac_library.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>

#include "symbols/il_map.h"
#include "symbols/metadata/image_metadata.h"
#include "unmanaged/win/utf8.h"
#include "walker/clr/dac_name.h"
#include "walker/clr/question_messages.h"
#include "walker/session/win/win_error.h"

namespace mixwalk {
namespace {

constexpr unsigned kNameUnits = 4096;
// How many modules' metadata is kept open. A large program has some thousand.
constexpr std::size_t kMaxModules = 10'000;
constexpr unsigned kMaxHeaps = 1024;
constexpr std::size_t kMaxExtents = 64;  // a module has one, or two
// The limit for ranges of code around one address. There is one, or a few.
constexpr ULONG32 kMaxIlOffsets = 16;
// How far code that corresponds to IL is looked for. Optimised code has up to some hundred bytes that do not.
constexpr std::uint64_t kMaxBytesBefore = 1024;
// The size of the smallest object. There is always room for one after the memory that a thread has taken.
constexpr std::uint64_t kSmallestObject = 24;
constexpr std::size_t kMaxBases = 64;  // the limit for base types of a type
constexpr std::int32_t kValueType = 0x11;  // ELEMENT_TYPE_VALUETYPE
// The time limit for one question for sync blocks, because an answer must not be late.
constexpr std::chrono::milliseconds kSyncBlocksTime{250};
constexpr std::uint32_t kLastSyncBlock = 0x03FF'FFFF;  // an object's header has 26 bits for the number

// A name that the library wrote, up to its terminator, or up to the end of the buffer.
std::string text_of(const std::array<WCHAR, kNameUnits>& name) {
  const auto end = std::find(name.begin(), name.end() - 1, L'\0');
  return to_utf8({name.data(), static_cast<std::size_t>(end - name.begin())});
}

void add_room(std::uint64_t begin, std::uint64_t limit, HeapTypes& types) {
  if (begin != 0 && limit >= begin) types.free_room[begin] = limit + kSmallestObject;
}

// The memory that a module's file takes.
std::vector<dac::ModuleExtent> extents_of(dac::IClrModule& module) {
  std::vector<dac::ModuleExtent> extents;
  std::uint64_t enumeration = 0;
  if (module.StartEnumExtents(&enumeration) != S_OK) return extents;
  for (dac::ModuleExtent part; extents.size() < kMaxExtents && module.EnumExtent(&enumeration, &part) == S_OK;) {
    extents.push_back(part);
  }
  module.EndEnumExtents(enumeration);
  return extents;
}

std::string code_of(HRESULT result) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08lX", static_cast<unsigned long>(result));
  return text;
}

}  // namespace

Outcome<std::unique_ptr<DacLibrary>> DacLibrary::load(const std::string& path, const MemoryReader& memory,
                                                      std::uint64_t runtime_base) {
  std::unique_ptr<DacLibrary> loaded(new DacLibrary(memory, runtime_base));
  // DLLs that the library itself needs come from its own folder and the system's, never from the current folder.
  loaded->library_ = LoadLibraryExW(to_utf16(path).c_str(), nullptr,
                                    LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_SYSTEM32);
  if (loaded->library_ == nullptr) {
    const DWORD error = GetLastError();
    return Failure{ExitCode::internal, "cannot load " + path + ": " + image_error_text(error, path)};
  }
  const auto create = reinterpret_cast<dac::CreateInstance>(
      reinterpret_cast<void*>(GetProcAddress(loaded->library_, "CLRDataCreateInstance")));
  if (create == nullptr) return Failure{ExitCode::internal, path + " is no debugging library of .NET"};
  const HRESULT result = create(dac::kIidClrProcess, &loaded->target_,
                                reinterpret_cast<void**>(loaded->process_.put()));
  if (FAILED(result) || !loaded->process_) {
    return Failure{ExitCode::internal, path + " does not accept the target's runtime (" + code_of(result) + ")"};
  }
  if (!loaded->sos_.query(loaded->process_.get(), dac::kIidSosDac)) {
    return Failure{ExitCode::internal, path + " answers no questions (ISOSDacInterface)"};
  }
  return loaded;
}

DacLibrary::~DacLibrary() {
  metadata_.clear();
  sos_.reset();
  process_.reset();
}

std::optional<ClrCode> DacLibrary::code_at(std::uint64_t ip) {
  dac::CodeHeaderData data;
  if (FAILED(sos_->GetCodeHeaderData(ip, &data)) || data.method == 0 || data.start == 0) return std::nullopt;
  return ClrCode{data.method,     data.start,   data.hot_bytes,
                 data.cold_start, data.cold_bytes, data.gc_info,
                 data.jit_type == dac::kJitted};
}

ClrMethod DacLibrary::method(std::uint64_t method) {
  std::array<WCHAR, kNameUnits> name{};
  unsigned units = 0;
  if (FAILED(sos_->GetMethodDescName(method, kNameUnits, name.data(), &units))) return {};
  dac::MethodDescData data;
  const bool dynamic = SUCCEEDED(sos_->GetMethodDescData(method, 0, &data, 0, nullptr, nullptr)) &&
                       data.is_dynamic != 0;
  const std::string text = text_of(name);
  ClrMethod found = method_of_dac_name(text, dynamic);
  if (dynamic || found.stub) return found;
  if (std::string better = name_by_metadata(data, text); !better.empty()) found.name = std::move(better);
  if (const ModuleMetadata* metadata = data.module != 0 ? metadata_of(data.module) : nullptr) {
    // The library reads the metadata of the file, and calls a method that is not in it "Unknown".
    ModuleMetadata::Method declared;
    if (text.ends_with("!Unknown") && !metadata->method(data.token, declared)) {
      const bool named = SUCCEEDED(sos_->GetMethodTableName(data.method_table, kNameUnits, name.data(), &units));
      found.name = added_method_name(named ? type_of_dac_name(text_of(name)) : std::string(), data.token);
    }
    found.import = metadata->import_of(data.token);
    found.com = metadata->is_com_method(data.token);
  }
  return found;
}

const ModuleMetadata* DacLibrary::metadata_of(std::uint64_t module) {
  const auto known = metadata_.find(module);
  if (known != metadata_.end()) return &known->second;
  if (metadata_.size() == kMaxModules) return nullptr;
  ComPointer<IUnknown> object;
  if (FAILED(sos_->GetModule(module, object.put())) || !object) return nullptr;
  return &metadata_.emplace(module, ModuleMetadata(*object)).first->second;
}

std::string DacLibrary::name_by_metadata(const dac::MethodDescData& data, const std::string& name) {
  if (data.module == 0) return {};
  const ModuleMetadata* metadata = metadata_of(data.module);
  ModuleMetadata::Method method;
  if (metadata == nullptr || !metadata->method(data.token, method)) return {};
  const std::string type = metadata->type_name(method.type);
  const auto arguments = dac_arguments(name, type, method.name);
  const auto parameters =
      arguments ? format_parameters(method.signature, *metadata, {arguments->of_type, arguments->of_method})
                : std::nullopt;
  if (!parameters) return {};
  std::string text = with_arguments(type, arguments->of_type);
  if (!text.empty()) text += '.';
  return text + with_arguments(method.name, arguments->of_method) + *parameters;
}

std::string DacLibrary::code_name(std::uint64_t address) {
  std::array<WCHAR, kNameUnits> name{};
  ULONG32 units = 0;
  std::uint64_t displacement = 0;
  if (FAILED(process_->GetRuntimeNameByAddress(address, 0, kNameUnits, &units, name.data(), &displacement))) {
    return {};
  }
  return text_of(name);
}

template <class Visit>
void DacLibrary::each_thread(Visit visit) {
  dac::ThreadStoreData store;
  if (FAILED(sos_->GetThreadStoreData(&store))) return;
  // The list is in the target's memory, so it may be circular.
  const std::size_t most = std::min<std::size_t>(std::max(store.threads, 0), kMaxClrThreads);
  std::uint64_t at = store.first_thread;
  for (std::size_t i = 0; i < most && at != 0; ++i) {
    dac::ThreadData data;
    if (FAILED(sos_->GetThreadData(at, &data))) return;
    visit(at, data, at == store.gc_thread);
    at = data.next_thread;
  }
}

std::vector<ClrThread> DacLibrary::threads() {
  std::vector<ClrThread> threads;
  each_thread([&](std::uint64_t address, const dac::ThreadData& data, bool pauses) {
    threads.push_back({.address = address,
                       .os_id = data.os_id,
                       .managed_id = data.managed_id,
                       .domain = data.domain,
                       .cooperative = data.preemptive_gc_disabled != 0,
                       .pauses = pauses,
                       .object = thread_objects_.object_of(address, cache_, *this),
                       .state = static_cast<std::uint32_t>(data.state),
                       .thrown = data.last_thrown});
  });
  return threads;
}

std::optional<ClrSyncBlocks> DacLibrary::sync_blocks(std::uint32_t first) {
  const auto end = std::chrono::steady_clock::now() + kSyncBlocksTime;
  ClrSyncBlocks found;
  std::uint32_t number = std::max(first, 1u);
  for (;; ++number) {
    dac::SyncBlockData data;
    const HRESULT result = sos_->GetSyncBlockData(number, &data);
    // For a process without sync blocks the library returns E_FAIL and a count of 0.
    if (data.count == 0 && FAILED(result) && result != E_FAIL) found.unreadable = true;
    if (number > data.count || number == kLastSyncBlock) return found;
    const bool timely = number % 256 != 0 || number == first || std::chrono::steady_clock::now() < end;
    if (found.blocks.size() == kMaxSyncBlocks || !timely) break;
    if (FAILED(result)) found.unreadable = true;
    if (FAILED(result) || data.is_free != 0 || data.address == 0) continue;
    if (data.held == 0 && data.pulse_waiters == 0) continue;
    const bool held = (data.held & 1) != 0;
    found.blocks.push_back(
        {data.address, data.object, held ? data.holding_thread : 0, held ? data.recursion : 0, held});
  }
  found.next = number;
  return found;
}

std::string DacLibrary::object_type(std::uint64_t object) {
  dac::ObjectData data;
  if (FAILED(sos_->GetObjectData(object, &data)) || data.kind == dac::kFreeObject) return {};
  std::array<WCHAR, kNameUnits> name{};
  unsigned units = 0;
  if (FAILED(sos_->GetObjectClassName(object, kNameUnits, name.data(), &units))) return {};
  return type_of_dac_name(text_of(name));
}

void DacLibrary::add_heap(const dac::GcHeapDetails& details, HeapParts& parts, HeapTypes& types,
                          HeapDeadline deadline) {
  const auto segment_at = [&](std::uint64_t at) -> std::optional<HeapSegment> {
    dac::HeapSegmentData segment;
    if (FAILED(sos_->GetHeapSegmentData(at, &segment))) return std::nullopt;
    const std::uint64_t end = at == details.ephemeral_segment ? details.allocated : segment.allocated;
    return HeapSegment{{segment.begin, end, segment.reserved}, segment.next};
  };
  for (const dac::GenerationData& generation : details.generations) {
    parts.add_list(generation.first_segment, segment_at, deadline);
  }
  add_room(details.generations[0].allocation, details.generations[0].allocation_limit, types);
}

ManagedHeap DacLibrary::read_heap(HeapDeadline deadline) {
  ManagedHeap heap;
  dac::GcHeapData data;
  if (FAILED(sos_->GetGCHeapData(&data)) || data.is_valid == 0) return heap;
  HeapParts parts;
  dac::GcHeapDetails details;
  if (data.is_server == 0) {
    if (SUCCEEDED(sos_->GetGCHeapStaticData(&details))) add_heap(details, parts, heap.types, deadline);
  } else {
    std::array<std::uint64_t, kMaxHeaps> heaps{};
    unsigned count = 0;
    if (FAILED(sos_->GetGCHeapList(kMaxHeaps, heaps.data(), &count))) return heap;
    for (unsigned i = 0; i < std::min(count, kMaxHeaps); ++i) {
      if (SUCCEEDED(sos_->GetGCHeapDetails(heaps[i], &details))) add_heap(details, parts, heap.types, deadline);
    }
  }
  heap.parts = parts.take();
  each_thread([&](std::uint64_t, const dac::ThreadData& thread, bool) {
    add_room(thread.allocation, thread.allocation_limit, heap.types);
  });
  heap.types.bytes_of = [this](std::uint64_t method_table) {
    dac::MethodTableData type;
    if (FAILED(sos_->GetMethodTableData(method_table, &type))) return ObjectBytes{};
    return object_bytes(type.base_bytes, type.component_bytes);
  };
  return heap;
}

std::string DacLibrary::type_name(std::uint64_t method_table) {
  std::array<WCHAR, kNameUnits> name{};
  unsigned units = 0;
  if (FAILED(sos_->GetMethodTableName(method_table, kNameUnits, name.data(), &units))) return {};
  return type_of_dac_name(text_of(name));
}

bool DacLibrary::add_own_fields(std::uint64_t method_table, int inherited, bool value, std::vector<ClrField>& fields) {
  dac::MethodTableData type;
  dac::MethodTableFieldData declared;
  if (FAILED(sos_->GetMethodTableData(method_table, &type)) ||
      FAILED(sos_->GetMethodTableFieldData(method_table, &declared))) {
    return false;
  }
  const int own = declared.instance_fields - inherited;
  if (own == 0) return true;
  const ModuleMetadata* metadata = metadata_of(type.module);
  if (own < 0 || metadata == nullptr) return false;
  std::uint64_t at = declared.first_field;
  const std::uint64_t before = value ? 0 : sizeof(std::uint64_t);
  // The list also has the static fields, those of threads included.
  for (int i = 0; i < own + declared.static_fields && at != 0; ++i) {
    dac::FieldDescData field;
    if (FAILED(sos_->GetFieldDescData(at, &field)) || fields.size() == kMaxTypeFields) return false;
    at = field.next_field;
    if (field.is_static != 0 || field.offset > type.base_bytes) continue;
    fields.push_back({.name = metadata->field_name(field.token),
                      .offset = static_cast<std::uint32_t>(field.offset + before),
                      .element = static_cast<std::uint8_t>(field.kind),
                      .type = field.kind == kValueType ? field.type : 0});
  }
  return true;
}

ClrType DacLibrary::read_type(std::uint64_t method_table) {
  dac::MethodTableData data;
  ClrType type{.name = type_name(method_table)};
  if (type.name.empty() || FAILED(sos_->GetMethodTableData(method_table, &data))) return {};
  const ObjectBytes bytes = object_bytes(data.base_bytes, data.component_bytes);
  type.parent = data.parent;
  type.base_bytes = bytes.base;
  type.component_bytes = bytes.component;
  std::vector<std::uint64_t> bases;  // the type itself first
  for (std::uint64_t at = method_table; at != 0; at = data.parent) {
    if (bases.size() == kMaxBases || FAILED(sos_->GetMethodTableData(at, &data))) return type;
    bases.push_back(at);
  }
  const std::string base = bases.size() > 1 ? type_name(bases[1]) : std::string();
  const bool value = base == "System.ValueType" || base == "System.Enum";
  int inherited = 0;
  for (std::size_t i = bases.size(); i-- != 0;) {
    dac::MethodTableFieldData declared;
    if (!add_own_fields(bases[i], inherited, value, type.fields) ||
        FAILED(sos_->GetMethodTableFieldData(bases[i], &declared))) {
      type.fields.clear();
      return type;
    }
    inherited = declared.instance_fields;
  }
  return type;
}

bool DacLibrary::is_object(std::uint64_t object, std::uint64_t method_table) {
  dac::ObjectData data;
  return SUCCEEDED(sos_->GetObjectData(object, &data)) && data.method_table == method_table;
}

ComPointer<dac::IClrMethodInstance> DacLibrary::method_around(std::uint64_t ip) {
  ComPointer<dac::IClrMethodInstance> method;
  std::uint64_t enumeration = 0;
  if (process_->StartEnumMethodInstancesByAddress(ip, nullptr, &enumeration) != S_OK) return method;
  if (process_->EnumMethodInstanceByAddress(&enumeration, method.put()) != S_OK) method.reset();
  process_->EndEnumMethodInstancesByAddress(enumeration);
  return method;
}

bool DacLibrary::has_replaced_il(dac::IClrMethodInstance& method, std::uint64_t of_module) {
  ComPointer<dac::IClrMethodDefinition> definition;
  std::uint64_t enumeration = 0;
  if (FAILED(method.GetDefinition(definition.put())) || !definition ||
      definition->StartEnumExtents(&enumeration) != S_OK) {
    return false;
  }
  dac::MethodExtent il;
  const HRESULT found = definition->EnumExtent(&enumeration, &il);
  definition->EndEnumExtents(enumeration);
  ComPointer<IUnknown> object;
  ComPointer<dac::IClrModule> module;
  if (found != S_OK || FAILED(sos_->GetModule(of_module, object.put())) || !object ||
      !module.query(object.get(), dac::kIidClrModule)) {
    return false;
  }
  const std::vector<dac::ModuleExtent> parts = extents_of(*module.get());
  const auto has_il = [&](const dac::ModuleExtent& part) { return il.begin - part.base < part.bytes; };
  return !parts.empty() && std::ranges::none_of(parts, has_il);
}

// Folklore: the library gives the map of a method's first code only, though it finds the ranges around an address of
// any code. Real case: code of tier 1 under Wine 10, in which the return address of a call corresponds to no IL.
// Remedy: for the code before such code, the addresses below are asked for, one by one. Test: three_ways_test.
std::optional<std::uint32_t> DacLibrary::il_offset(dac::IClrMethodInstance& method, std::uint64_t ip,
                                                   const ClrCode& code) {
  const std::uint64_t most = std::min(ip - std::min(ip, code.start), kMaxBytesBefore);
  for (std::uint64_t before = 0; before <= most; ++before) {
    std::array<ULONG32, kMaxIlOffsets> offsets{};
    ULONG32 count = 0;
    if (FAILED(method.GetILOffsetsByAddress(ip - before, kMaxIlOffsets, &count, offsets.data()))) count = 0;
    // The ranges around the address, as a map of these ranges. The last one begins last.
    std::vector<IlToNative> map;
    for (const ULONG32 offset : std::span(offsets).first(std::min(count, kMaxIlOffsets))) {
      if (before == 0 || offset < IlToNative::kSpecial) map.push_back({offset, 0, 1});
    }
    if (const auto offset = il_offset_at(map, 0)) return offset;
  }
  return std::nullopt;
}

const Assembly* DacLibrary::assembly_of(std::uint64_t module) {
  const auto known = assemblies_.find(module);
  if (known != assemblies_.end()) return known->second ? &*known->second : nullptr;
  if (assemblies_.size() == kMaxModules) assemblies_.clear();
  std::optional<Assembly>& kept = assemblies_[module];
  const ModuleMetadata* metadata = metadata_of(module);
  Assembly assembly;
  if (metadata == nullptr || !metadata->mvid(assembly.mvid)) return nullptr;
  assembly.optimised = may_be_optimised(metadata->assembly_attribute(L"System.Diagnostics.DebuggableAttribute"));
  ComPointer<IUnknown> object;
  ComPointer<dac::IClrModule> file;
  std::array<WCHAR, kNameUnits> name{};
  ULONG32 units = 0;
  if (SUCCEEDED(sos_->GetModule(module, object.put())) && object && file.query(object.get(), dac::kIidClrModule)) {
    if (SUCCEEDED(file->GetFileName(kNameUnits, &units, name.data()))) assembly.path = text_of(name);
    // The image in the target's memory says which PDB it has, also if no file of it is on this machine.
    for (const dac::ModuleExtent& part : extents_of(*file.get())) {
      if (auto pdb = portable_pdb_of_image(cache_, part.base)) {
        assembly.pdb = std::move(pdb->id);
        break;
      }
    }
  }
  kept = std::move(assembly);
  return &*kept;
}

ClrIlPlaces DacLibrary::il_places(std::span<const std::uint64_t> ips) {
  ClrIlPlaces found;
  for (const std::uint64_t ip : ips) {
    ClrIlPlaces::Place& place = found.places.emplace_back();
    const auto code = code_at(ip);
    dac::MethodDescData data;
    // The PDB describes version 0 only; ReJIT makes others.
    if (!code || FAILED(sos_->GetMethodDescData(code->method, ip, &data, 0, nullptr, nullptr)) ||
        data.is_dynamic != 0 || data.requested.id != 0) {
      continue;
    }
    const auto method = method_around(ip);
    if (!method || has_replaced_il(*method.get(), data.module)) continue;
    const auto offset = il_offset(*method.get(), ip, *code);
    const Assembly* assembly = offset ? assembly_of(data.module) : nullptr;
    if (assembly == nullptr) continue;
    place = {{place_of(*assembly, found.assemblies), data.token, *offset}, code->method};
  }
  return found;
}

ClrIlPlaces DacLibrary::machine_places(std::span<const std::uint64_t> method_tables) {
  ClrIlPlaces found;
  for (const std::uint64_t table : method_tables) {
    ClrIlPlaces::Place& place = found.places.emplace_back();
    dac::MethodTableData type;
    if (FAILED(sos_->GetMethodTableData(table, &type))) continue;
    const ModuleMetadata* metadata = metadata_of(type.module);
    const clr::Token method = metadata != nullptr ? metadata->method_named(type.token, L"MoveNext") : 0;
    const Assembly* assembly = method != 0 ? assembly_of(type.module) : nullptr;
    if (assembly != nullptr) place = {{place_of(*assembly, found.assemblies), method, 0}, table};
  }
  return found;
}

void DacLibrary::target_ran() {
  ObjectQuestions::target_ran();
  cache_.drop();
  assemblies_.clear();
  metadata_.clear();  // the library's objects must not outlive this call
  thread_objects_ = {};
  process_->Flush();
}

}  // namespace mixwalk
