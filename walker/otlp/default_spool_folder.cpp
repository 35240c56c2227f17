#include "walker/base/environment.h"
#include "walker/otlp/spool.h"

namespace mixwalk {

// The directory is one of the XDG base directories: the one for data that should outlive a restart and is not
// configuration.
std::filesystem::path default_spool_folder() {
  const auto variable = [](const char* name) -> std::filesystem::path { return environment_text(name).value_or(""); };
  if (const auto state = variable("XDG_STATE_HOME"); state.is_absolute()) {
    return state / "mixwalk" / "spool";
  }
  const auto home = variable("HOME");
  if (!home.is_absolute()) return {};
  return home / ".local" / "state" / "mixwalk" / "spool";
}

}  // namespace mixwalk
