#include "walker/otlp/private_folder.h"

#include <windows.h>

#include <aclapi.h>

#include "unmanaged/win/unique_handle.h"
#include "walker/otlp/spool_security.h"
#include "walker/session/win/security_descriptor.h"
#include "walker/session/win/token.h"
#include "walker/session/win/win_error.h"

namespace mixwalk {
namespace {

// Opens the path itself, even if it is a link.
UniqueHandle open_itself(const std::filesystem::path& path) {
  return UniqueHandle(CreateFileW(path.c_str(), READ_CONTROL | WRITE_DAC | FILE_READ_ATTRIBUTES,
                                  FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr,
                                  OPEN_EXISTING,
                                  FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT,
                                  nullptr));
}

// Returns 0, or the error. SetSecurityInfo is not used, because under Wine 8 it adds the rights of the folder above,
// even with PROTECTED_DACL_SECURITY_INFORMATION.
DWORD set_rights(HANDLE object, PSECURITY_DESCRIPTOR descriptor) {
  constexpr SECURITY_INFORMATION kWhat =
      DACL_SECURITY_INFORMATION | PROTECTED_DACL_SECURITY_INFORMATION;
  return SetKernelObjectSecurity(object, kWhat, descriptor) ? ERROR_SUCCESS : GetLastError();
}

}  // namespace

std::string make_private_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder.parent_path(), error);
  if (error) return error.message();
  const auto facts = token_facts(GetCurrentProcess());
  if (!facts) return "cannot learn who uses it: " + last_error();

  const SecurityDescriptor made = make_security_descriptor(spool_sddl(facts->user));
  if (!made) return last_error();
  SECURITY_ATTRIBUTES attributes{sizeof attributes, made.get(), FALSE};
  if (CreateDirectoryW(folder.c_str(), &attributes)) return {};
  if (GetLastError() != ERROR_ALREADY_EXISTS) return last_error();

  // The opened folder is changed, not the name, because another folder may get the name meanwhile.
  const UniqueHandle there = open_itself(folder);
  if (!there) return last_error();
  BY_HANDLE_FILE_INFORMATION its{};
  if (!GetFileInformationByHandle(there.get(), &its)) return last_error();
  if ((its.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) == 0 ||
      (its.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0) {
    return "it is no folder";
  }
  PSID owner = nullptr;
  PSECURITY_DESCRIPTOR present = nullptr;
  const DWORD refused = GetSecurityInfo(there.get(), SE_FILE_OBJECT, OWNER_SECURITY_INFORMATION, &owner,
                                  nullptr, nullptr, nullptr, &present);
  if (refused != ERROR_SUCCESS) return error_text(refused);
  const SecurityDescriptor of_owner(present);
  PSID user = nullptr;
  BOOL defaulted = FALSE;
  if (!GetSecurityDescriptorOwner(made.get(), &user, &defaulted)) return last_error();
  // The group of administrators owns a folder that one of them creates while elevated, and an earlier run may have been
  // elevated.
  if (!EqualSid(owner, user) && !IsWellKnownSid(owner, WinBuiltinAdministratorsSid)) {
    return "it belongs to another user";
  }
  if (const DWORD unset = set_rights(there.get(), made.get())) return error_text(unset);
  // Existing files have the rights that they inherited before, so each gets its own.
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    const UniqueHandle file = open_itself(at->path());
    if (file) set_rights(file.get(), made.get());
  }
  return {};
}

}  // namespace mixwalk
