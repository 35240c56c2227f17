#pragma once

#include <string>

namespace mixwalk::test {

// Makes this process trust an authority for certificates. Returns whether that succeeded.
bool trust(const std::string& certificate);

}  // namespace mixwalk::test
