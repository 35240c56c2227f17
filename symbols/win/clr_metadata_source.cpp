#include "symbols/win/clr_metadata_source.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <iterator>

#include "symbols/clr_name.h"
#include "unmanaged/win/utf8.h"

namespace mixwalk {
namespace {

constexpr ULONG32 kMaxArguments = 64;
// The limit for nested types: an array of arrays, a generic of generics. Real types are nested a handful deep.
constexpr int kMaxDepth = 16;
constexpr ULONG kNameUnits = 1024;

std::string unknown_method(clr::FunctionID function) {
  char text[64];
  std::snprintf(text, sizeof text, "[unknown method 0x%" PRIx64 "]",
                static_cast<std::uint64_t>(function));
  return text;
}

// Returns the name of a primitive type (ELEMENT_TYPE_*) that is the element type of an array. A primitive element type
// has no ClassID.
std::string primitive_name(DWORD kind) {
  const std::byte signature[] = {std::byte{0}, std::byte{1}, std::byte{1},
                                 static_cast<std::byte>(kind)};
  struct NoNames final : TypeNames {
    std::string type_name(std::uint32_t) const override { return {}; }
  };
  const auto parameters = format_parameters(signature, NoNames(), {});
  return parameters ? parameters->substr(1, parameters->size() - 2) : "?";
}

}  // namespace

const ManagedName& ClrMetadataSource::name(clr::FunctionID function) {
  const auto known = names_.find(function);
  if (known != names_.end()) return known->second;
  modules_.clear();
  ManagedName name = resolve(function);
  name.modules = modules_;
  return names_.emplace(function, std::move(name)).first->second;
}

const ManagedName* ClrMetadataSource::known(clr::FunctionID function) const {
  const auto known = names_.find(function);
  return known == names_.end() ? nullptr : &known->second;
}

bool ClrMetadataSource::is_dynamic(clr::FunctionID function) const {
  BOOL dynamic = FALSE;
  return info8_ != nullptr && SUCCEEDED(info8_->IsFunctionDynamic(function, &dynamic)) && dynamic;
}

void ClrMetadataSource::forget_module(clr::ModuleID module) {
  std::erase_if(names_, [&](const auto& entry) {
    return std::ranges::find(entry.second.modules, module) != entry.second.modules.end();
  });
}

void ClrMetadataSource::forget_dynamic() {
  std::erase_if(names_, [](const auto& entry) { return entry.second.dynamic; });
}

ModuleMetadata ClrMetadataSource::metadata_of(clr::ModuleID module) {
  if (std::ranges::find(modules_, module) == modules_.end()) modules_.push_back(module);
  return ModuleMetadata(*info_, module);
}

ManagedName ClrMetadataSource::resolve(clr::FunctionID function) {
  ManagedName name;
  if (dynamic_name(function, name)) return name;

  clr::ClassID type = 0;
  clr::ModuleID module = 0;
  clr::Token token = 0;
  ULONG32 count = 0;
  std::vector<clr::ClassID> arguments(kMaxArguments);
  // Frame info 0: nothing is known about the particular call. Shared generic code is then named by its shared type
  // arguments (System.__Canon).
  if (FAILED(info_->GetFunctionInfo2(function, 0, &type, &module, &token, kMaxArguments, &count,
                                     arguments.data()))) {
    return {unknown_method(function)};
  }
  arguments.resize(std::min(count, kMaxArguments));

  const ModuleMetadata metadata = metadata_of(module);
  ModuleMetadata::Method method;
  if (!metadata.method(token, method)) return {unknown_method(function)};

  const std::vector<std::string> type_arguments = class_arguments(type, 0);
  const std::vector<std::string> method_arguments = class_names(arguments, 0);
  name.text = with_arguments(metadata.type_name(method.type), type_arguments);
  if (!name.text.empty()) name.text += '.';
  // A method's name has no arity: a suffix that looks like an arity is a part of the name.
  name.text += method.name + with_arguments({}, method_arguments);
  name.text += format_parameters(method.signature, metadata, {type_arguments, method_arguments})
                   .value_or("(?)");
  return name;
}

bool ClrMetadataSource::dynamic_name(clr::FunctionID function, ManagedName& name) {
  if (!is_dynamic(function)) return false;
  WCHAR text[kNameUnits] = {};
  ULONG length = 0;
  clr::ModuleID module = 0;
  if (FAILED(info8_->GetDynamicFunctionInfo(function, &module, nullptr, nullptr, std::size(text),
                                            &length, text))) {
    return false;
  }
  text[kNameUnits - 1] = 0;
  name.text = to_utf8(text);
  name.stub = name.text.starts_with("IL_STUB");
  name.dynamic = true;
  if (module != 0) modules_.push_back(module);
  return !name.text.empty();
}

std::string ClrMetadataSource::class_name(clr::ClassID type, int depth) {
  if (type == 0 || depth > kMaxDepth) return "?";
  DWORD element_kind = 0;
  clr::ClassID element = 0;
  ULONG rank = 0;
  if (info_->IsArrayClass(type, &element_kind, &element, &rank) == S_OK) {
    std::string text =
        element != 0 ? class_name(element, depth + 1) : primitive_name(element_kind);
    text += '[';
    if (rank > 1) text.append(std::min<ULONG>(rank, 32) - 1, ',');
    return text + ']';
  }
  clr::ModuleID module = 0;
  clr::Token type_def = 0;
  if (FAILED(info_->GetClassIDInfo2(type, &module, &type_def, nullptr, 0, nullptr, nullptr))) {
    return "?";
  }
  const std::string name = metadata_of(module).type_name(type_def);
  return name.empty() ? "?" : with_arguments(name, class_arguments(type, depth + 1));
}

std::vector<std::string> ClrMetadataSource::class_arguments(clr::ClassID type, int depth) {
  if (type == 0 || depth > kMaxDepth) return {};
  ULONG32 count = 0;
  std::vector<clr::ClassID> arguments(kMaxArguments);
  if (FAILED(info_->GetClassIDInfo2(type, nullptr, nullptr, nullptr, kMaxArguments, &count,
                                    arguments.data()))) {
    return {};
  }
  arguments.resize(std::min(count, kMaxArguments));
  return class_names(arguments, depth);
}

std::vector<std::string> ClrMetadataSource::class_names(const std::vector<clr::ClassID>& types,
                                                        int depth) {
  std::vector<std::string> names;
  names.reserve(types.size());
  for (const clr::ClassID type : types) names.push_back(class_name(type, depth + 1));
  return names;
}

}  // namespace mixwalk
