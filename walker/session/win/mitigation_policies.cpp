#include "walker/session/win/mitigation_policies.h"

#include <array>

#include "unmanaged/win/module_path.h"
#include "walker/session/win/token.h"

namespace mixwalk {
namespace {

bool is_on_another_machine(const std::wstring& folder) {
  std::array<wchar_t, MAX_PATH> volume{};
  return GetVolumePathNameW(folder.c_str(), volume.data(), MAX_PATH) && GetDriveTypeW(volume.data()) == DRIVE_REMOTE;
}

}  // namespace

MitigationPolicies read_mitigation_policies(HANDLE process, AskForPolicy ask) {
  MitigationPolicies policies{.dll_is_remote = is_on_another_machine(module_folder(nullptr))};
  if (process == nullptr) return policies;
  const auto flags_of = [&](PROCESS_MITIGATION_POLICY policy) -> std::optional<std::uint32_t> {
    // Each of the five structures is one DWORD. (The one for dynamic code has 8 bytes in headers of mingw-w64, by one
    // reserved bit too many.)
    constexpr DWORD kUnwritten = 0xFFFF'FFFF;
    DWORD flags = kUnwritten;
    if (!ask(process, policy, &flags, sizeof flags) || flags == kUnwritten) return std::nullopt;
    return flags;
  };
  policies.signature = flags_of(ProcessSignaturePolicy);
  policies.control_flow_guard = flags_of(ProcessControlFlowGuardPolicy);
  policies.shadow_stack = flags_of(ProcessUserShadowStackPolicy);
  policies.image_load = flags_of(ProcessImageLoadPolicy);
  policies.dynamic_code = flags_of(ProcessDynamicCodePolicy);
  return policies;
}

MitigationPolicies read_mitigation_policies(std::uint32_t process_id) {
  return read_mitigation_policies(open_process(PROCESS_QUERY_INFORMATION, process_id).get());
}

}  // namespace mixwalk
