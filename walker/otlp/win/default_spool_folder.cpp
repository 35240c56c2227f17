#include <cstdlib>

#include "walker/otlp/spool.h"

namespace mixwalk {

// %LOCALAPPDATA% is for data of this machine that is not copied to others with the user's profile.
std::filesystem::path default_spool_folder() {
  const wchar_t* const local = _wgetenv(L"LOCALAPPDATA");
  if (local == nullptr || !std::filesystem::path(local).is_absolute()) return {};
  return std::filesystem::path(local) / L"mixwalk" / L"spool";
}

}  // namespace mixwalk
