#include "walker/session/pipe_security.h"

namespace mixwalk {
namespace {

std::string allow(const char* rights, const std::string& sid) {
  return std::string("(A;;") + rights + ";;;" + sid + ")";
}

}  // namespace

std::string pipe_sddl(const std::string& own_user, const TokenFacts& target) {
  constexpr const char* kReadWrite = "GRGW";
  // P: nothing is inherited.
  std::string sddl = "D:P" + allow("GA", own_user);
  const bool other_user = target.user != own_user;
  if (other_user) sddl += allow(kReadWrite, target.user);
  // The logon session is the narrowest group that contains a process of another user, or a restricted process. Windows
  // checks a restricted token twice. In the second check only its restricting SIDs count. As a rule, the SID of its
  // logon session is one of them, but its user is not.
  if ((other_user || target.restricted) && !target.logon.empty()) {
    sddl += allow(kReadWrite, target.logon);
  }
  // In an AppContainer the user's right counts only together with the package's.
  if (!target.app_container.empty()) sddl += allow(kReadWrite, target.app_container);
  // An object without a label has medium integrity, so a process of a lower level may not write to it.
  if (target.integrity < TokenFacts::kMediumIntegrity) {
    sddl += "S:(ML;;NW;;;S-1-16-" + std::to_string(target.integrity) + ")";
  }
  return sddl;
}

}  // namespace mixwalk
