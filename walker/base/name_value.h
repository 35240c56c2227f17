#pragma once

#include <string>

namespace mixwalk {

// One attribute of a resource, or one header of a request. Both parts are text.
struct NameValue {
  std::string name, value;

  bool operator==(const NameValue&) const = default;
};

}  // namespace mixwalk
