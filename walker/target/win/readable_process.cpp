#include "walker/target/win/readable_process.h"

#include <string>

#include "walker/session/process_names.h"
#include "walker/session/win/process_machine.h"
#include "walker/session/win/token.h"

namespace mixwalk {

Outcome<UniqueHandle> open_readable(DWORD access, std::uint32_t process_id) {
  UniqueHandle handle = open_process(access, process_id);
  const std::string name = "process " + std::to_string(process_id);
  if (!handle) {
    if (GetLastError() == ERROR_ACCESS_DENIED) {
      return Failure{ExitCode::no_access,
                     "no access to " + name + ": run mixwalk as the same user or as administrator"};
    }
    return no_process_with(process_id);
  }
  if (const std::string why = unfit_machine(handle.get()); !why.empty()) {
    return Failure{ExitCode::wrong_bitness, name + why};
  }
  return handle;
}

}  // namespace mixwalk
