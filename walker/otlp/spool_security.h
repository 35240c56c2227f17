#pragma once

#include <string>

namespace mixwalk {

// The security descriptor, as SDDL, of a collector's folder in the spool: the user owns it, has all
// rights to it and to the files that are made in it, and no other user has any. Nothing is inherited
// from the folder above, which --spool names and another user may own. `user`: a SID, "S-1-5-21-…".
// Pure; not frozen-safe.
std::string spool_sddl(const std::string& user);

}  // namespace mixwalk
