#include "symbols/server/cabinet.h"

namespace mixwalk {

// Debian's libraries for cabinets are rarely installed, and servers hardly ever have cabinets only.
std::string expand_cabinet(const std::filesystem::path&, const std::filesystem::path&) {
  return "it is compressed (a cabinet), which mixwalk expands on Windows only";
}

}  // namespace mixwalk
