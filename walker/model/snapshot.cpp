#include "walker/model/snapshot.h"

namespace mixwalk {

std::string module_name(const Module& module) {
  return std::string(file_name(module.path));
}

}  // namespace mixwalk
