#include "walker/session/launched_children.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace mixwalk {

std::string children_text(std::span<const LaunchedChild> children) {
  using Kind = LaunchedChild::Kind;
  constexpr std::size_t kMaxNamed = 8;
  for (const Kind kind : {Kind::dotnet, Kind::native_aot, Kind::bits32}) {
    std::vector<const LaunchedChild*> these;
    for (const LaunchedChild& child : children) {
      if (child.kind == kind) these.push_back(&child);
    }
    if (these.empty()) continue;
    const bool one = these.size() == 1;
    std::string text = one ? ": its child process " : ": its child processes ";
    for (std::size_t i = 0; i < std::min(these.size(), kMaxNamed); ++i) {
      if (i != 0) text += i + 1 == these.size() ? " and " : ", ";
      text += std::to_string(these[i]->id) + (these[i]->name.empty() ? "" : " (" + these[i]->name + ")");
    }
    if (these.size() > kMaxNamed) text += ", …";
    const std::string with_id = one ? "-p " + std::to_string(these.front()->id) : "-p and one of these ids";
    switch (kind) {
      case Kind::dotnet: return text + (one ? " has" : " have") + " the .NET runtime: look at it with " + with_id;
      case Kind::native_aot: return text + (one ? " is" : " are") + " NativeAOT: look at it with " + with_id;
      case Kind::bits32: return text + (one ? " is a 32-bit process" : " are 32-bit processes") +
                                "; mixwalk walks x64 only";
    }
  }
  return {};
}

}  // namespace mixwalk
