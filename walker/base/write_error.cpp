#include "walker/base/write_error.h"

namespace mixwalk {

void expect_full_disk() noexcept { errno = 0; }

}  // namespace mixwalk
