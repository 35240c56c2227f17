#include "walker/clr/contracts/runtime_names.h"

#include "symbols/clr_name.h"
#include "walker/base/utf8.h"
#include "walker/clr/contracts/code_versions.h"
#include "walker/clr/dac_name.h"
#include "walker/clr/question_messages.h"

namespace mixwalk {
namespace {

// The limits for types inside types: real ones are nested a handful deep. Memory that was forged can repeat a type in
// its own arguments, so the number of types in one name is limited as well.
constexpr int kMaxTypeDepth = 16;
constexpr int kMaxTypesInName = 1000;

// The name of one type can have 33 KB, and every frame has its own copy of a name. (The bytes of a name that is longer
// than the limit are those of the uncut name, because the types are named in the order of the text.)
std::string cut_name(std::string name) {
  name.resize(cut_text(name, kMaxNameBytes).size());
  return name;
}

}  // namespace

void RuntimeNames::begin_name() {
  types_left_ = kMaxTypesInName;
  text_left_ = kMaxNameBytes;
}

ClrMethod RuntimeNames::method(std::uint64_t method) {
  const auto found = runtime_method_at(reader_, method);
  if (!found) return {};
  if (found->dynamic) {
    const std::string name = found->dynamic_name != 0 ? reader_.utf8(found->dynamic_name) : std::string();
    return method_of_dac_name(valid_utf8(name), true);
  }
  const MetadataNames* const metadata = modules_.metadata_of(found->module);
  const auto declared = metadata != nullptr ? metadata->method(found->token) : std::nullopt;
  begin_name();
  if (!declared) {
    if (metadata == nullptr || !is_reloaded(reader_, found->module, found->token)) return {};
    // The changed metadata is in structures of the runtime that it does not describe.
    return {.name = cut_name(added_method_name(valid_utf8(name_of(found->type, 0)), found->token)), .import = {}};
  }
  const auto of_type = names_of(arguments_of_type(reader_, found->type), 0);
  const auto of_method = names_of(arguments_of_method(reader_, method), 0);
  std::string name = with_arguments(metadata->type_name(declared->type), of_type);
  if (!name.empty()) name += '.';
  name += with_arguments(declared->name, of_method);
  name += format_parameters(declared->signature, *metadata, {of_type, of_method}).value_or("(?)");
  return {.name = cut_name(valid_utf8(name)),
          .import = valid_utf8(metadata->import_of(found->token)),
          .com = metadata->is_com_type(declared->type)};
}

std::string RuntimeNames::type_name(std::uint64_t type) {
  begin_name();
  std::string name = cut_name(valid_utf8(name_of(type, 0)));
  return name == "?" ? std::string() : name;
}

std::string RuntimeNames::name_of(std::uint64_t type, int depth) {
  if (depth > kMaxTypeDepth || text_left_ == 0 || types_left_-- <= 0) return "?";
  const auto found = runtime_type_at(reader_, type);
  if (!found) return "?";
  switch (found->kind) {
    case RuntimeType::Kind::declared: return declared_name(type, *found, depth);
    case RuntimeType::Kind::array: {
      std::string name = name_of(found->element, depth + 1) + '[';
      name.append(found->rank - 1, ',');
      return name + ']';
    }
    case RuntimeType::Kind::pointer: return name_of(found->element, depth + 1) + '*';
    case RuntimeType::Kind::reference: return name_of(found->element, depth + 1) + '&';
    case RuntimeType::Kind::parameter: {
      const MetadataNames* const metadata = modules_.metadata_of(found->module);
      const std::string name = metadata != nullptr ? metadata->generic_parameter_name(found->token) : std::string();
      return name.empty() ? "?" : name;
    }
    case RuntimeType::Kind::function: return "(fnptr)";  // the debugging library does not say more
  }
  return "?";
}

std::string RuntimeNames::declared_name(std::uint64_t method_table, const RuntimeType& type, int depth) {
  const MetadataNames* const metadata = modules_.metadata_of(type.module);
  std::string name = metadata != nullptr ? metadata->type_name(type.token) : std::string();
  if (name.empty()) return "?";
  name.resize(cut_text(name, text_left_).size());
  text_left_ -= name.size();
  return with_arguments(name, names_of(arguments_of_type(reader_, method_table), depth + 1));
}

std::vector<std::string> RuntimeNames::names_of(const std::vector<std::uint64_t>& types, int depth) {
  std::vector<std::string> names;
  for (const std::uint64_t type : types) names.push_back(name_of(type, depth));
  return names;
}

}  // namespace mixwalk
