#include "walker/otlp/spool_security.h"

namespace mixwalk {

// P: nothing is inherited. OICI: files and folders inside inherit the right. FA: all rights.
std::string spool_sddl(const std::string& user) {
  return "O:" + user + "D:P(A;OICI;FA;;;" + user + ")";
}

}  // namespace mixwalk
