#include "walker/base/write_error.h"

#include <windows.h>

namespace mixwalk {

void expect_full_disk() noexcept {
  errno = 0;
  SetLastError(ERROR_DISK_FULL);
}

}  // namespace mixwalk
