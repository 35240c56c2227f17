#pragma once

#include <string>

namespace mixwalk {

// Returns lines about the machine on which tests run: its Windows or Wine, processors, rights, code page, .NET
// Framework. UTF-8.
std::string system_description();

}  // namespace mixwalk
