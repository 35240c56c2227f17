#include "walker/export/image_id.h"

#include <fmt/format.h>

namespace mixwalk {

std::string code_id(const Module& module) {
  if (module.timestamp == 0 && module.size == 0) return {};
  return fmt::format("{:08X}{:x}", module.timestamp, module.size);
}

}  // namespace mixwalk
