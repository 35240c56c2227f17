#include "walker/session/win/token.h"

#include <sddl.h>

#include <mutex>
#include <vector>

#include "unmanaged/win/utf8.h"

namespace mixwalk {
namespace {

UniqueHandle token_of(HANDLE process, DWORD access) noexcept {
  HANDLE token = nullptr;
  return OpenProcessToken(process, access, &token) ? UniqueHandle(token) : UniqueHandle();
}

// One kind of information about a token. Empty if the system has none.
std::vector<std::byte> information(HANDLE token, TOKEN_INFORMATION_CLASS kind) {
  DWORD bytes = 0;
  GetTokenInformation(token, kind, nullptr, 0, &bytes);
  std::vector<std::byte> value(bytes);
  if (!GetTokenInformation(token, kind, value.data(), bytes, &bytes)) value.clear();
  return value;
}

template <class Value>
const Value* as(const std::vector<std::byte>& bytes) {
  return bytes.size() < sizeof(Value) ? nullptr : reinterpret_cast<const Value*>(bytes.data());
}

std::string text(PSID sid) {
  LPWSTR wide = nullptr;
  if (sid == nullptr || !ConvertSidToStringSidW(sid, &wide)) return {};
  std::string result = to_utf8(wide);
  LocalFree(wide);
  return result;
}

std::string logon_of(HANDLE token) {
  const auto bytes = information(token, TokenGroups);
  const auto* groups = as<TOKEN_GROUPS>(bytes);
  for (DWORD i = 0; groups != nullptr && i < groups->GroupCount; ++i) {
    if ((groups->Groups[i].Attributes & SE_GROUP_LOGON_ID) == SE_GROUP_LOGON_ID) {
      return text(groups->Groups[i].Sid);
    }
  }
  return {};
}

std::uint32_t integrity_of(HANDLE token) {
  const auto bytes = information(token, TokenIntegrityLevel);
  const auto* label = as<TOKEN_MANDATORY_LABEL>(bytes);
  if (label == nullptr) return TokenFacts::kMediumIntegrity;
  const PSID sid = label->Label.Sid;
  return *GetSidSubAuthority(sid, *GetSidSubAuthorityCount(sid) - 1u);
}

// The privilege belongs to the whole process, so one thread must not switch it off while another one needs it.
std::mutex g_debug_privilege;

template <class Open>
UniqueHandle with_debug_privilege(const Open& open) noexcept {
  UniqueHandle handle(open());
  if (handle || GetLastError() != ERROR_ACCESS_DENIED) return handle;
  DWORD error = ERROR_ACCESS_DENIED;
  {
    const std::lock_guard lock(g_debug_privilege);
    const DebugPrivilege privilege;
    if (privilege.held()) {
      handle = UniqueHandle(open());
      error = GetLastError();
    }
  }
  SetLastError(error);
  return handle;
}

}  // namespace

std::optional<TokenFacts> token_facts(HANDLE process) {
  const UniqueHandle token = token_of(process, TOKEN_QUERY);
  if (!token) return std::nullopt;
  TokenFacts facts;
  const auto user = information(token.get(), TokenUser);
  if (const auto* its = as<TOKEN_USER>(user)) facts.user = text(its->User.Sid);
  if (facts.user.empty()) return std::nullopt;
  facts.logon = logon_of(token.get());
  const auto container = information(token.get(), TokenAppContainerSid);
  if (const auto* its = as<TOKEN_APPCONTAINER_INFORMATION>(container)) {
    facts.app_container = text(its->TokenAppContainer);
  }
  const auto restricting = information(token.get(), TokenRestrictedSids);
  const auto* groups = as<TOKEN_GROUPS>(restricting);
  facts.restricted = groups != nullptr && groups->GroupCount != 0;
  facts.integrity = integrity_of(token.get());
  return facts;
}

DebugPrivilege::DebugPrivilege() noexcept
    : token_(token_of(GetCurrentProcess(), TOKEN_QUERY | TOKEN_ADJUST_PRIVILEGES)) {
  TOKEN_PRIVILEGES wanted{.PrivilegeCount = 1};
  wanted.Privileges[0].Attributes = SE_PRIVILEGE_ENABLED;
  if (!token_ || !LookupPrivilegeValueW(nullptr, SE_DEBUG_NAME, &wanted.Privileges[0].Luid)) return;
  DWORD bytes = 0;
  // AdjustTokenPrivileges also succeeds if there is no such privilege to be switched on.
  held_ = AdjustTokenPrivileges(token_.get(), FALSE, &wanted, sizeof before_, &before_, &bytes) &&
          GetLastError() == ERROR_SUCCESS;
}

DebugPrivilege::~DebugPrivilege() {
  // before_ contains only the privileges that were changed, and none if they were already on.
  if (held_ && before_.PrivilegeCount != 0) {
    AdjustTokenPrivileges(token_.get(), FALSE, &before_, 0, nullptr, nullptr);
  }
}

// Folklore. Situation: an id that no process has, and that is not divisible by 4. Real case: OpenProcess(997) opens
// process 996, since Windows ignores the two lowest bits (Raymond Chen, "Why are process and thread IDs multiples of
// four?"). So a mistyped id would show another process. Remedy: the id of what was opened is compared. Test:
// token_test.
UniqueHandle open_process(DWORD access, DWORD process_id) noexcept {
  UniqueHandle process = with_debug_privilege([&] { return OpenProcess(access, FALSE, process_id); });
  if (!process) return process;
  const DWORD opened = GetProcessId(process.get());  // 0 if `access` does not allow the question
  if (opened == 0 || opened == process_id) return process;
  SetLastError(ERROR_INVALID_PARAMETER);  // as for an id that no process has
  return {};
}

UniqueHandle open_thread(DWORD access, DWORD thread_id) noexcept {
  return with_debug_privilege([&] { return OpenThread(access, FALSE, thread_id); });
}

}  // namespace mixwalk
