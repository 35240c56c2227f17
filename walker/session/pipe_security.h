#pragma once

#include <cstdint>
#include <string>

namespace mixwalk {

// The facts from a process's token that decide whether it may open a pipe. SIDs are text: "S-1-5-18".
struct TokenFacts {
  std::string user;
  std::string logon;          // of its logon session, S-1-5-5-…; empty if it has none (LocalSystem)
  std::string app_container;  // of its package, S-1-15-2-…; empty if it is in no AppContainer
  bool restricted = false;    // it has restricting SIDs, which must be admitted as well
  std::uint32_t integrity = kMediumIntegrity;  // the last number of its label's SID

  static constexpr std::uint32_t kMediumIntegrity = 0x2000;
};

// The security descriptor, as SDDL, of a pipe that mixwalk.exe creates for one target: it admits mixwalk.exe's own user
// and the target, by the narrowest possible SIDs, and no group like Everyone, Administrators or ALL APPLICATION
// PACKAGES. Pure; not frozen-safe.
std::string pipe_sddl(const std::string& own_user, const TokenFacts& target);

}  // namespace mixwalk
