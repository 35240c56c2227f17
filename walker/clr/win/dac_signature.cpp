#include "walker/clr/win/dac_signature.h"

#include <windows.h>

#include <softpub.h>
#include <wincrypt.h>
#include <wintrust.h>

#include "unmanaged/win/system_library.h"
#include "unmanaged/win/utf8.h"
#include "walker/session/win/win_error.h"

namespace mixwalk {
namespace {

struct Functions {
  decltype(&::WinVerifyTrust) verify = nullptr;
  decltype(&::WTHelperProvDataFromStateData) data_of_state = nullptr;
  decltype(&::WTHelperGetProvSignerFromChain) signer_of_chain = nullptr;
  decltype(&::CertVerifyCertificateChainPolicy) verify_policy = nullptr;

  // Returns false if the system lacks one of them.
  bool find() noexcept {
    const SystemLibrary wintrust(L"wintrust.dll"), crypt32(L"crypt32.dll");
    return wintrust.find("WinVerifyTrust", verify) &&
           wintrust.find("WTHelperProvDataFromStateData", data_of_state) &&
           wintrust.find("WTHelperGetProvSignerFromChain", signer_of_chain) &&
           crypt32.find("CertVerifyCertificateChainPolicy", verify_policy);
  }
};

// The state of the system's check, which exists while this object lives.
class Verification {
 public:
  Verification(const Functions& system, const std::wstring& path) : system_(system) {
    file_.cbStruct = sizeof file_;
    file_.pcwszFilePath = path.c_str();
    data_.cbStruct = sizeof data_;
    data_.dwUIChoice = WTD_UI_NONE;
    data_.fdwRevocationChecks = WTD_REVOKE_NONE;
    data_.dwUnionChoice = WTD_CHOICE_FILE;
    data_.pFile = &file_;
    data_.dwStateAction = WTD_STATEACTION_VERIFY;
    data_.dwProvFlags = WTD_CACHE_ONLY_URL_RETRIEVAL | WTD_REVOCATION_CHECK_NONE;
    result_ = system_.verify(static_cast<HWND>(INVALID_HANDLE_VALUE), &action_, &data_);
  }
  ~Verification() {
    data_.dwStateAction = WTD_STATEACTION_CLOSE;
    system_.verify(static_cast<HWND>(INVALID_HANDLE_VALUE), &action_, &data_);
  }
  Verification(const Verification&) = delete;
  Verification& operator=(const Verification&) = delete;

  LONG result() const { return result_; }

  // Returns null if the state has no chain.
  PCCERT_CHAIN_CONTEXT chain() const {
    CRYPT_PROVIDER_DATA* const state = system_.data_of_state(data_.hWVTStateData);
    CRYPT_PROVIDER_SGNR* const signer =
        state != nullptr ? system_.signer_of_chain(state, 0, FALSE, 0) : nullptr;
    return signer != nullptr ? signer->pChainContext : nullptr;
  }

 private:
  const Functions& system_;
  GUID action_ = WINTRUST_ACTION_GENERIC_VERIFY_V2;
  WINTRUST_FILE_INFO file_{};
  WINTRUST_DATA data_{};
  LONG result_ = 0;
};

bool has_microsoft_root(const Functions& system, PCCERT_CHAIN_CONTEXT chain) {
  CERT_CHAIN_POLICY_PARA parameters{};
  parameters.cbSize = sizeof parameters;
  parameters.dwFlags = MICROSOFT_ROOT_CERT_CHAIN_POLICY_CHECK_APPLICATION_ROOT_FLAG;
  CERT_CHAIN_POLICY_STATUS status{};
  status.cbSize = sizeof status;
  const auto check = [&] {
    return system.verify_policy(CERT_CHAIN_POLICY_MICROSOFT_ROOT, chain, &parameters, &status) &&
           status.dwError == ERROR_SUCCESS;
  };
  if (check()) return true;
  parameters.dwFlags = 0;  // allows the older root, that of the system's own files
  return check();
}

}  // namespace

std::string WindowsSignatures::doubt(const std::string& path) {
  Functions system;
  if (!system.find()) return "its signature cannot be checked: functions of wintrust.dll or crypt32.dll are missing";
  const std::wstring name = to_utf16(path);
  const Verification verification(system, name);
  if (verification.result() != ERROR_SUCCESS) {
    return "its signature: " + error_text(static_cast<DWORD>(verification.result()));
  }
  const auto chain = verification.chain();
  if (chain == nullptr || !has_microsoft_root(system, chain)) return "it is signed, but not by Microsoft";
  return {};
}

}  // namespace mixwalk
