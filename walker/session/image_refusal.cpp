#include "walker/session/image_refusal.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace mixwalk {
namespace {

// Codes of Win32 errors from `first` to `last`.
struct Refusal {
  std::uint32_t first, last;
  const char* text;  // {} is the files
};

constexpr const char* kApplicationControl =
    "an application control policy (WDAC, Smart App Control) blocks the file: "
    "sign {0} with a certificate that the policy trusts, or allow {0} in the policy";

// The names are those of winerror.h. LoadLibrary and CreateProcess report them, since ntdll translates the NTSTATUS of
// the kernel or of the loader (RtlNtStatusToDosError).
constexpr Refusal kRefusals[] = {
    // ERROR_SHARING_VIOLATION
    {32, 32, "another program, such as a virus scanner, holds the file open: try again in a moment"},
    // ERROR_PROC_NOT_FOUND
    {127, 127,
     "the file needs a function that no DLL of this machine has: is this version of Windows too old for {0}?"},
    // ERROR_BAD_EXE_FORMAT
    {193, 193, "Windows does not accept the file as a valid image: is it complete, and for this kind of processor?"},
    // ERROR_EXE_MACHINE_TYPE_MISMATCH
    {216, 216, "the file is for another kind of processor: is it the right one for this version of Windows?"},
    // ERROR_VIRUS_INFECTED
    {225, 225,
     "security software takes the file for malware, and blocks it: "
     "if you trust {0}, add an exception to the security software"},
    // ERROR_VIRUS_DELETED
    {226, 226,
     "security software took the file for malware, and removed it: "
     "if you trust {0}, add an exception to the security software, and restore the file"},
    // ERROR_INVALID_IMAGE_HASH
    {577, 577,
     "Windows or the process requires a signature that the file does not have: "
     "sign {0} with a certificate that is accepted there"},
    // ERROR_ACCESS_DISABLED_NO_SAFER_UI_BY_POLICY
    {786, 786, "a software restriction policy blocks the file: add a rule to the policy that allows {0}"},
    // ERROR_DLL_INIT_FAILED
    {1114, 1114,
     "the file could not be initialised, which happens in a process that is ending or has too little "
     "memory: try again"},
    // ERROR_ACCESS_DISABLED_BY_POLICY
    {1260, 1260,
     "a policy of AppLocker or of software restriction blocks the file: "
     "sign {0} for a rule of the policy, or add a rule that allows {0}"},
    // ERROR_STRICT_CFG_VIOLATION
    {1657, 1657,
     "the process loads only files with Control Flow Guard (strict mode), which this file does not have: "
     "switch off \"Use strict CFG\" for the program in the exploit protection of Windows"},
    // ERROR_SYSTEM_INTEGRITY_ROLLBACK_DETECTED … _POLICY_VIOLATION (0x11C7) … _REPUTATION_OFFLINE
    {4550, 4559, kApplicationControl},
    // ERROR_SYSTEM_INTEGRITY_REPUTATION_UNFRIENDLY_FILE … _WHQL_NOT_SATISFIED
    {4580, 4583, kApplicationControl},
};

struct Translation {
  std::uint32_t status, error;
};

// The statuses of ntstatus.h for which RtlNtStatusToDosError gives these errors.
constexpr Translation kStatuses[] = {
    {0xC000'0043, 32},    // STATUS_SHARING_VIOLATION
    {0xC000'007B, 193},   // STATUS_INVALID_IMAGE_FORMAT
    {0xC000'0139, 127},   // STATUS_ENTRYPOINT_NOT_FOUND
    {0xC000'0142, 1114},  // STATUS_DLL_INIT_FAILED
    {0xC000'0361, 1260},  // STATUS_ACCESS_DISABLED_BY_POLICY_DEFAULT
    {0xC000'0362, 1260},  // STATUS_ACCESS_DISABLED_BY_POLICY_PATH
    {0xC000'0363, 1260},  // STATUS_ACCESS_DISABLED_BY_POLICY_PUBLISHER
    {0xC000'0364, 1260},  // STATUS_ACCESS_DISABLED_BY_POLICY_OTHER
    {0xC000'0372, 786},   // STATUS_ACCESS_DISABLED_NO_SAFER_UI_BY_POLICY
    {0xC000'0428, 577},   // STATUS_INVALID_IMAGE_HASH
    {0xC000'0606, 1657},  // STATUS_STRICT_CFG_VIOLATION
    {0xC000'0906, 225},   // STATUS_VIRUS_INFECTED
    {0xC000'0907, 226},   // STATUS_VIRUS_DELETED
};

constexpr std::uint32_t kWin32Facility = 0x8007'0000, kStatusAsResult = 0x1000'0000;
constexpr std::uint32_t kSystemIntegrity = 0xC0E9'0000;  // the facility of statuses of application control
constexpr std::uint32_t kPolicyViolation = 4551;         // ERROR_SYSTEM_INTEGRITY_POLICY_VIOLATION

}  // namespace

std::optional<std::uint32_t> loader_error_in(std::uint32_t code) {
  if ((code & 0xFFFF'0000) == kWin32Facility) return code & 0xFFFF;
  const std::uint32_t status = code & ~kStatusAsResult;
  if ((status & 0xFFFF'0000) == kSystemIntegrity) return kPolicyViolation;
  const auto* found = std::ranges::find(kStatuses, status, &Translation::status);
  if (found == std::end(kStatuses)) return std::nullopt;
  return found->error;
}

std::optional<std::string> image_refusal(std::uint32_t error, const std::string& files) {
  const auto* found = std::ranges::find_if(
      kRefusals, [error](const Refusal& refusal) { return refusal.first <= error && error <= refusal.last; });
  if (found == std::end(kRefusals)) return std::nullopt;
  return fmt::format(fmt::runtime(found->text), files);
}

}  // namespace mixwalk
