#include "walker/outside/dac_name.h"

namespace mixwalk {
ClrMethod method_of_dac_name(std::string_view name, bool dynamic) {
  return {std::string(name) + (dynamic ? " [dynamic]" : ""), false};
}
}  // namespace mixwalk
