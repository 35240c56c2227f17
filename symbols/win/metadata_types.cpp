#include "symbols/win/metadata_types.h"

#include <cstring>
#include <iterator>

#include "unmanaged/win/utf8.h"

namespace mixwalk {
namespace {

// mingw-w64's libraries do not define it.
constexpr IID kIidMetaDataImport = {
    0x7DAC8207, 0xD3AE, 0x4C75, {0x9B, 0x67, 0x92, 0x80, 0x1A, 0x49, 0x7D, 0x44}};
constexpr IID kIidMetaDataTables = {
    0xD8F579AB, 0x402D, 0x4B8E, {0x82, 0xD9, 0x5D, 0x63, 0xB1, 0x06, 0x5C, 0x68}};
constexpr DWORD kOpenRead = 0;  // CorOpenFlags ofRead

// MAX_CLASS_NAME of the CLR.
constexpr ULONG kNameUnits = 1024;
// The limit for types inside types. It also ends the search in metadata that is circular.
constexpr int kMaxNesting = 32;

constexpr DWORD kImported = 0x1000;  // TypeAttributes.Import, ECMA-335 II.23.1.15
constexpr clr::Token kTableMask = 0xFF000000;
constexpr clr::Token kTypeRef = 0x01000000;
constexpr clr::Token kTypeDef = 0x02000000;
constexpr clr::Token kMethodDef = 0x06000000;

// `length` includes the terminator; for a name that did not fit the buffer it is the length that was needed. Such a
// name is cut and ends with "…", since another name may begin in the same way.
std::string text_of(const WCHAR* name, ULONG length) {
  if (length == 0) return {};
  if (length > kNameUnits) return to_utf8({name, kNameUnits - 1}) + "…";
  return to_utf8({name, length - 1});
}

std::string nested(std::string outer, const std::string& inner) {
  return outer.empty() ? inner : std::move(outer) + '+' + inner;
}

}  // namespace

ModuleMetadata::ModuleMetadata(clr::ICorProfilerInfo3& info, clr::ModuleID module) {
  info.GetModuleMetaData(module, kOpenRead, kIidMetaDataImport,
                         reinterpret_cast<IUnknown**>(import_.put()));
}

ModuleMetadata::ModuleMetadata(IUnknown& module) { import_.query(&module, kIidMetaDataImport); }

bool ModuleMetadata::method(clr::Token token, Method& method) const {
  if (!import_) return false;
  WCHAR name[kNameUnits];
  ULONG length = 0;
  mdTypeDef type = 0;
  PCCOR_SIGNATURE signature = nullptr;
  ULONG signature_bytes = 0;
  if (FAILED(import_->GetMethodProps(token, &type, name, std::size(name), &length, nullptr,
                                     &signature, &signature_bytes, nullptr, nullptr))) {
    return false;
  }
  method.name = text_of(name, length);
  method.type = type;
  method.signature = {reinterpret_cast<const std::byte*>(signature), signature_bytes};
  return true;
}

clr::Token ModuleMetadata::method_named(clr::Token type, const wchar_t* name) const {
  mdMethodDef method = 0;
  return import_ && SUCCEEDED(import_->FindMethod(type, name, nullptr, 0, &method)) ? method : 0;
}

std::string ModuleMetadata::field_name(clr::Token token) const {
  WCHAR name[kNameUnits];
  ULONG length = 0;
  mdTypeDef type = 0;
  if (!import_ || FAILED(import_->GetFieldProps(token, &type, name, std::size(name), &length, nullptr, nullptr, nullptr,
                                                nullptr, nullptr, nullptr))) {
    return {};
  }
  return text_of(name, length);
}

bool ModuleMetadata::mvid(std::array<std::byte, 16>& mvid) const {
  GUID guid{};
  ULONG length = 0;
  if (!import_ || FAILED(import_->GetScopeProps(nullptr, 0, &length, &guid))) return false;
  static_assert(sizeof guid == sizeof mvid);
  std::memcpy(mvid.data(), &guid, sizeof guid);
  return true;
}

std::span<const std::byte> ModuleMetadata::assembly_attribute(const wchar_t* type) const {
  constexpr mdToken kAssembly = 0x20000001;
  const void* data = nullptr;
  ULONG bytes = 0;
  if (!import_ || import_->GetCustomAttributeByName(kAssembly, type, &data, &bytes) != S_OK) return {};
  return {static_cast<const std::byte*>(data), data == nullptr ? 0 : bytes};
}

std::vector<clr::Token> ModuleMetadata::imported_methods(std::size_t most) const {
  std::vector<clr::Token> methods;
  ComPointer<IMetaDataTables> tables;
  if (!import_ || FAILED(import_->QueryInterface(kIidMetaDataTables, reinterpret_cast<void**>(tables.put())))) {
    return methods;
  }
  constexpr ULONG kImplMap = 0x1C, kMemberForwarded = 1;  // ECMA-335 II.22.22
  ULONG row_bytes = 0, rows = 0, columns = 0, key = 0;
  if (FAILED(tables->GetTableInfo(kImplMap, &row_bytes, &rows, &columns, &key, nullptr))) return methods;
  for (ULONG row = 1; row <= rows && methods.size() < most; ++row) {
    ULONG member = 0;  // a MethodDef; by the standard it may also be a Field
    if (FAILED(tables->GetColumn(kImplMap, kMemberForwarded, row, &member))) continue;
    if ((member & kTableMask) == kMethodDef) methods.push_back(member);
  }
  return methods;
}

std::vector<clr::Token> ModuleMetadata::com_methods(std::size_t most) const {
  std::vector<clr::Token> methods;
  if (!import_) return methods;
  HCORENUM types = nullptr;
  mdTypeDef type = 0;
  ULONG count = 0;
  while (methods.size() < most && import_->EnumTypeDefs(&types, &type, 1, &count) == S_OK && count == 1) {
    DWORD flags = 0;
    if (FAILED(import_->GetTypeDefProps(type, nullptr, 0, nullptr, &flags, nullptr))) continue;
    if ((flags & kImported) == 0) continue;
    HCORENUM members = nullptr;
    mdMethodDef method = 0;
    while (methods.size() < most && import_->EnumMethods(&members, type, &method, 1, &count) == S_OK &&
           count == 1) {
      methods.push_back(method);
    }
    import_->CloseEnum(members);
  }
  import_->CloseEnum(types);
  return methods;
}

bool ModuleMetadata::is_com_method(clr::Token method) const {
  Method found;
  DWORD flags = 0;
  if (!this->method(method, found)) return false;
  if (FAILED(import_->GetTypeDefProps(found.type, nullptr, 0, nullptr, &flags, nullptr))) return false;
  return (flags & kImported) != 0;
}

std::string ModuleMetadata::import_of(clr::Token method) const {
  WCHAR name[kNameUnits];
  ULONG length = 0;
  DWORD flags = 0;
  mdModuleRef library = 0;
  if (!import_ ||
      FAILED(import_->GetPinvokeMap(method, &flags, name, std::size(name), &length, &library))) {
    return {};
  }
  const std::string entry = text_of(name, length);
  if (FAILED(import_->GetModuleRefProps(library, name, std::size(name), &length))) return {};
  const std::string from = text_of(name, length);
  return from.empty() || entry.empty() ? std::string() : from + '!' + entry;
}

std::string ModuleMetadata::type_name(std::uint32_t token) const {
  if (!import_) return {};
  switch (token & kTableMask) {
    case kTypeDef: return type_def_name(token, 0);
    case kTypeRef: return type_ref_name(token, 0);
    default: return {};
  }
}

std::string ModuleMetadata::type_def_name(clr::Token token, int depth) const {
  WCHAR name[kNameUnits];
  ULONG length = 0;
  if (depth > kMaxNesting ||
      FAILED(import_->GetTypeDefProps(token, name, std::size(name), &length, nullptr, nullptr))) {
    return {};
  }
  std::string text = text_of(name, length);
  mdTypeDef outer = 0;
  if (FAILED(import_->GetNestedClassProps(token, &outer)) || outer == 0) return text;
  return nested(type_def_name(outer, depth + 1), text);
}

std::string ModuleMetadata::type_ref_name(clr::Token token, int depth) const {
  WCHAR name[kNameUnits];
  ULONG length = 0;
  mdToken scope = 0;
  if (depth > kMaxNesting ||
      FAILED(import_->GetTypeRefProps(token, &scope, name, std::size(name), &length))) {
    return {};
  }
  std::string text = text_of(name, length);
  if ((scope & kTableMask) != kTypeRef) return text;
  return nested(type_ref_name(scope, depth + 1), text);
}

}  // namespace mixwalk
