#include "walker/clr/old_copies.h"

#include <string>

namespace mixwalk {

std::vector<std::uint64_t> old_copies(ClrQuestions& clr, std::span<const std::uint64_t> addresses) {
  const std::vector<std::string> types = clr.heap_object_types(addresses);
  std::vector<std::uint64_t> copies;
  for (std::size_t i = 0; i < addresses.size() && i < types.size(); ++i) {
    if (types[i].empty()) copies.push_back(addresses[i]);
  }
  return copies;
}

}  // namespace mixwalk
