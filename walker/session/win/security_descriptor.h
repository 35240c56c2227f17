#pragma once

#include <windows.h>

#include <memory>
#include <string>

namespace mixwalk {

struct LocalFreed {
  void operator()(void* memory) const noexcept { LocalFree(memory); }
};
using SecurityDescriptor = std::unique_ptr<void, LocalFreed>;

// Makes a security descriptor from its text in the security descriptor definition language. Returns null if that fails;
// GetLastError() says why.
SecurityDescriptor make_security_descriptor(const std::string& sddl);

}  // namespace mixwalk
