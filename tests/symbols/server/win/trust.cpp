#include "tests/symbols/server/trust.h"

#include <windows.h>

#include <wincrypt.h>

#include <fstream>
#include <iterator>

namespace mixwalk::test {

// Puts the certificate into the user's store. On Windows the user would have to confirm that, so this runs under Wine
// only, in a prefix of its own.
bool trust(const std::string& certificate) {
  std::ifstream in(certificate, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  const HCERTSTORE store =
      CertOpenStore(CERT_STORE_PROV_SYSTEM_REGISTRY_W, 0, 0, CERT_SYSTEM_STORE_CURRENT_USER, L"Root");
  if (store == nullptr) return false;
  const bool added = CertAddEncodedCertificateToStore(
      store, X509_ASN_ENCODING, reinterpret_cast<const BYTE*>(bytes.data()), static_cast<DWORD>(bytes.size()),
      CERT_STORE_ADD_REPLACE_EXISTING, nullptr);
  CertCloseStore(store, 0);
  return added;
}

}  // namespace mixwalk::test
