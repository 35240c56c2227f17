#include "tests/symbols/win/fake_clr.h"

#include <algorithm>
#include <string_view>

namespace mixwalk::test {
namespace {

#define SLOT(function) static HRESULT STDMETHODCALLTYPE function

// Copies as much as fits, terminated, like the runtime; `length` includes the terminator.
void give(const std::wstring& text, WCHAR* to, ULONG capacity, ULONG* length) {
  if (length != nullptr) *length = static_cast<ULONG>(text.size() + 1);
  if (to == nullptr || capacity == 0) return;
  const std::size_t units = std::min<std::size_t>(text.size(), capacity - 1);
  std::copy_n(text.begin(), units, to);
  to[units] = 0;
}

void give(const std::vector<clr::ClassID>& arguments, ULONG32 capacity, ULONG32* count,
          clr::ClassID* to) {
  if (count != nullptr) *count = static_cast<ULONG32>(arguments.size());
  if (to != nullptr) {
    std::copy_n(arguments.begin(), std::min<std::size_t>(capacity, arguments.size()), to);
  }
}

template <class Map, class Key>
auto* find(Map& map, Key key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

struct MetadataSlots {
  static ULONG STDMETHODCALLTYPE release(FakeMetadata* self) {
    return static_cast<ULONG>(--self->references);
  }
  SLOT(type_def)
  (FakeMetadata* self, ULONG32 token, WCHAR* name, ULONG capacity, ULONG* length, DWORD*,
   ULONG32*) {
    const auto* type = find(self->types, token);
    if (type == nullptr) return E_FAIL;
    give(type->name, name, capacity, length);
    return S_OK;
  }
  SLOT(type_ref)
  (FakeMetadata* self, ULONG32 token, ULONG32* scope, WCHAR* name, ULONG capacity, ULONG* length) {
    const auto* type = find(self->types, token);
    if (type == nullptr) return E_FAIL;
    *scope = type->outer;
    give(type->name, name, capacity, length);
    return S_OK;
  }
  SLOT(method)
  (FakeMetadata* self, ULONG32 token, ULONG32* type, WCHAR* name, ULONG capacity, ULONG* length,
   DWORD*, const std::uint8_t** signature, ULONG* signature_bytes, ULONG*, DWORD*) {
    const auto* method = find(self->methods, token);
    if (method == nullptr) return E_FAIL;
    *type = method->type;
    give(method->name, name, capacity, length);
    *signature = method->signature.data();
    *signature_bytes = static_cast<ULONG>(method->signature.size());
    return S_OK;
  }
  SLOT(scope)(FakeMetadata* self, WCHAR*, ULONG, ULONG*, GUID* mvid) {
    *mvid = self->mvid;
    return S_OK;
  }
  SLOT(attribute)
  (FakeMetadata* self, ULONG32 token, const WCHAR* name, const void** data, ULONG* bytes) {
    constexpr std::wstring_view kDebuggable = L"System.Diagnostics.DebuggableAttribute";
    if (token != 0x20000001 || name != kDebuggable) return E_FAIL;
    *data = self->debuggable.data();
    *bytes = static_cast<ULONG>(self->debuggable.size());
    return self->debuggable.empty() ? S_FALSE : S_OK;
  }
  SLOT(nested)(FakeMetadata* self, ULONG32 token, ULONG32* outer) {
    const auto* type = find(self->types, token);
    if (type == nullptr || type->outer == 0) return E_FAIL;  // CLDB_E_RECORD_NOTFOUND
    *outer = type->outer;
    return S_OK;
  }
};

struct ClrSlots {
  SLOT(is_array)(FakeClr* self, clr::ClassID id, DWORD* kind, clr::ClassID* element, ULONG* rank) {
    const auto* found = find(self->classes, id);
    if (found == nullptr) return E_INVALIDARG;
    if (found->rank == 0) return S_FALSE;
    *kind = found->element_kind;
    *element = found->element;
    *rank = found->rank;
    return S_OK;
  }
  SLOT(metadata)(FakeClr* self, clr::ModuleID module, DWORD, REFIID, FakeMetadata** metadata) {
    if (!self->has_metadata || module != FakeClr::kModule) return E_FAIL;
    ++self->metadata.references;
    *metadata = &self->metadata;
    return S_OK;
  }
  SLOT(function)
  (FakeClr* self, clr::FunctionID id, clr::FrameInfo frame, clr::ClassID* type,
   clr::ModuleID* module, ULONG32* token, ULONG32 capacity, ULONG32* count,
   clr::ClassID* arguments) {
    ++self->questions;
    const auto* found = find(self->functions, id);
    if (found == nullptr || frame != 0) return E_FAIL;
    if (type != nullptr) *type = found->type;
    *module = FakeClr::kModule;
    *token = found->method;
    give(found->arguments, capacity, count, arguments);
    return S_OK;
  }
  SLOT(type)
  (FakeClr* self, clr::ClassID id, clr::ModuleID* module, ULONG32* token, clr::ClassID*,
   ULONG32 capacity, ULONG32* count, clr::ClassID* arguments) {
    const auto* found = find(self->classes, id);
    if (found == nullptr || found->rank != 0) return E_FAIL;
    if (module != nullptr) *module = FakeClr::kModule;
    if (token != nullptr) *token = found->type_def;
    give(found->arguments, capacity, count, arguments);
    return S_OK;
  }
  SLOT(module_info)
  (FakeClr* self, clr::ModuleID, const BYTE** base, ULONG capacity, ULONG* length, WCHAR* name, clr::AssemblyID*) {
    give(self->file, name, capacity, length);
    *base = FakeClr::kImage;
    return S_OK;
  }
  SLOT(il)(FakeClr* self, clr::ModuleID, clr::Token, const BYTE** body, ULONG* bytes) {
    *body = self->reloaded ? self->reloaded_il.data() : FakeClr::kImage + 8;
    *bytes = 8;
    return S_OK;
  }
  SLOT(starts)
  (FakeClr* self, clr::FunctionID function, clr::ReJITID rejit, ULONG32 capacity, ULONG32* count,
   UINT_PTR* starts) {
    *count = 0;
    for (const auto& [start, code] : self->code) {
      if (code.function != function || rejit != 0) continue;
      if (*count == capacity) return E_FAIL;
      starts[(*count)++] = start;
    }
    return S_OK;
  }
  SLOT(map)(FakeClr* self, UINT_PTR start, ULONG32 capacity, ULONG32* count, IlToNative* map) {
    if (!self->has_debugger) return E_FAIL;
    const auto& all = self->code.at(start).map;
    *count = static_cast<ULONG32>(all.size());
    std::copy_n(all.begin(), std::min<std::size_t>(capacity, all.size()), map);
    return S_OK;
  }
  SLOT(pieces)(FakeClr* self, UINT_PTR start, ULONG32 capacity, ULONG32* count, clr::CodeInfo* pieces) {
    const auto& all = self->code.at(start).pieces;
    *count = static_cast<ULONG32>(all.size());
    std::copy_n(all.begin(), std::min<std::size_t>(capacity, all.size()), pieces);
    return S_OK;
  }
  SLOT(is_dynamic)(FakeClr* self, clr::FunctionID id, BOOL* dynamic) {
    *dynamic = self->dynamic_functions.contains(id);
    return S_OK;
  }
  SLOT(dynamic)
  (FakeClr* self, clr::FunctionID id, clr::ModuleID*, const std::uint8_t**, ULONG*, ULONG capacity,
   ULONG* length, WCHAR* name) {
    const auto* found = find(self->dynamic_functions, id);
    if (found == nullptr) return E_FAIL;
    give(*found, name, capacity, length);
    return S_OK;
  }
};

#undef SLOT

}  // namespace

FakeMetadata::FakeMetadata() {
  static ComTable<65> metadata;  // IMetaDataImport
  metadata.set(2, MetadataSlots::release);
  metadata.set(10, MetadataSlots::scope);      // GetScopeProps
  metadata.set(60, MetadataSlots::attribute);  // GetCustomAttributeByName
  metadata.set(12, MetadataSlots::type_def);  // GetTypeDefProps
  metadata.set(14, MetadataSlots::type_ref);  // GetTypeRefProps
  metadata.set(30, MetadataSlots::method);    // GetMethodProps
  metadata.set(62, MetadataSlots::nested);    // GetNestedClassProps
  table = metadata.slots.data();
}

FakeClr::FakeClr() {
  static ComTable<93> profiler;  // ICorProfilerInfo9
  profiler.set(20, ClrSlots::module_info);  // GetModuleInfo
  profiler.set(22, ClrSlots::il);           // GetILFunctionBody
  profiler.set(90, ClrSlots::starts);       // GetNativeCodeStartAddresses
  profiler.set(91, ClrSlots::map);          // GetILToNativeMapping3
  profiler.set(92, ClrSlots::pieces);       // GetCodeInfo4
  profiler.set(11, ClrSlots::is_array);
  profiler.set(21, ClrSlots::metadata);
  profiler.set(38, ClrSlots::function);    // GetFunctionInfo2
  profiler.set(41, ClrSlots::type);        // GetClassIDInfo2
  profiler.set(87, ClrSlots::is_dynamic);  // IsFunctionDynamic
  profiler.set(89, ClrSlots::dynamic);     // GetDynamicFunctionInfo
  table = profiler.slots.data();
}

}  // namespace mixwalk::test
