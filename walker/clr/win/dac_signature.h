#pragma once

#include "walker/clr/dac_search.h"

namespace mixwalk {

// The system's own check of a file's Authenticode signature (WinVerifyTrust), and of the signature's chain. The root of
// the chain must be Microsoft's. No certificate is fetched from a network.
class WindowsSignatures final : public FileSignatures {
 public:
  std::string doubt(const std::string& path) override;
};

}  // namespace mixwalk
