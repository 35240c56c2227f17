#include "walker/model/snapshot.h"

namespace mixwalk {

std::string module_name(const Module& module) {
  const auto slash = module.path.find_last_of("\\/");
  return slash == std::string::npos ? module.path : module.path.substr(slash + 1);
}

}  // namespace mixwalk
