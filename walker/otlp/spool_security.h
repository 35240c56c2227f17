#pragma once

#include <string>

namespace mixwalk {

// The security descriptor, as SDDL, of a collector's folder in the spool. The user owns the folder and has all rights
// to it and to the files that are created in it; no other user has any rights. Nothing is inherited from the folder
// above, because --spool names that folder and another user may own it. `user`: a SID, "S-1-5-21-…". Pure; not
// frozen-safe.
std::string spool_sddl(const std::string& user);

}  // namespace mixwalk
