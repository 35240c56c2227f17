#include "tests/support/repository_files.h"

namespace mixwalk {

std::string repository_file(const std::string& path) { return MIXWALK_REPOSITORY "/" + path; }

bool in_bundle() { return false; }

}  // namespace mixwalk
