#include "walker/otlp/spool_security.h"

#include <gtest/gtest.h>

namespace mixwalk {
namespace {

TEST(SpoolSecurity, TheUserAloneAndNothingInherited) {
  EXPECT_EQ(spool_sddl("S-1-5-21-1-2-3-1001"),
            "O:S-1-5-21-1-2-3-1001D:P(A;OICI;FA;;;S-1-5-21-1-2-3-1001)");
  EXPECT_EQ(spool_sddl("S-1-5-18"), "O:S-1-5-18D:P(A;OICI;FA;;;S-1-5-18)") << "a service";
}

}  // namespace
}  // namespace mixwalk
