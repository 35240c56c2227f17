#include "walker/clr/contracts/runtime_check.h"

#include <optional>

#include "walker/clr/contracts/method_tables.h"
#include "walker/clr/contracts/range_map.h"

namespace mixwalk {

std::string check_runtime(const RuntimeReader& reader, RuntimeNames& names, bool small_dump) {
  const auto string = reader.variable("StringMethodTable");
  const auto module = string && is_method_table(reader, *string) ? reader.field(*string, "MethodTable", "Module")
                                                                 : std::nullopt;
  const auto info = module ? reader.field(*module, "Module", "ReadyToRunInfo") : std::nullopt;
  if (!info) return "the runtime's data is not in memory, or is not the data that its contracts describe";
  // A setting (DOTNET_ReadyToRun=0) or a profiler (COR_PRF_DISABLE_ALL_NGEN_IMAGES) makes the runtime compile all
  // methods itself, so its library has no code of its own. Real case: none of the 150 stacks of a dump had a managed
  // frame. The name leads through the type and its module to the metadata.
  if (*info == 0) {
    const std::string name = names.type_name(*string);
    if (name == "System.String" || (small_dump && name.empty())) return {};
    return "the runtime's data does not lead to the name of System.String";
  }
  const auto functions = reader.field(*info, "ReadyToRunInfo", "RuntimeFunctions");
  bool unreadable = false;
  const auto section = functions ? code_section_at(reader, *functions, &unreadable) : std::nullopt;
  // A small dump has only those parts of the map that its writer has used for the stacks.
  if (small_dump && functions && unreadable) return {};
  if (!section || section->module != *module) {
    return "the runtime's map of code does not lead to System.Private.CoreLib";
  }
  return {};
}

}  // namespace mixwalk
