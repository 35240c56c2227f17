#include "walker/session/win/security_descriptor.h"

#include <sddl.h>

#include "unmanaged/win/utf8.h"

namespace mixwalk {

SecurityDescriptor make_security_descriptor(const std::string& sddl) {
  PSECURITY_DESCRIPTOR made = nullptr;
  ConvertStringSecurityDescriptorToSecurityDescriptorW(to_utf16(sddl).c_str(), SDDL_REVISION_1,
                                                       &made, nullptr);
  return SecurityDescriptor(made);
}

}  // namespace mixwalk
