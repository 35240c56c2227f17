#include "tests/symbols/server/trust.h"

#include <cstdlib>

namespace mixwalk::test {

bool trust(const std::string& certificate) { return setenv("SSL_CERT_FILE", certificate.c_str(), 1) == 0; }

}  // namespace mixwalk::test
