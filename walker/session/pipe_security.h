#pragma once

#include <cstdint>
#include <string>

namespace mixwalk {

// The facts from a process's token that decide whether it may open a pipe. SIDs are text: "S-1-5-18".
struct TokenFacts {
  std::string user;
  std::string logon;          // of the process's logon session, S-1-5-5-…; empty if it has none (LocalSystem)
  std::string app_container;  // of the process's package, S-1-15-2-…; empty if it is in no AppContainer
  bool restricted = false;    // the token has restricting SIDs, which must be admitted as well
  std::uint32_t integrity = kMediumIntegrity;  // the last number in the SID of the token's label

  static constexpr std::uint32_t kMediumIntegrity = 0x2000;
};

// The security descriptor, as SDDL, of a pipe that mixwalk.exe creates for one target. It admits mixwalk.exe's own user
// and the target, by the narrowest possible SIDs. It admits no group like Everyone, Administrators or ALL APPLICATION
// PACKAGES. Pure; not frozen-safe.
std::string pipe_sddl(const std::string& own_user, const TokenFacts& target);

}  // namespace mixwalk
