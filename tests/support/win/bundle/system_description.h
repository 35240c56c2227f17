#pragma once

#include <string>

namespace mixwalk {

// Lines about the machine that tests run on: its Windows or Wine, processors, rights, code page, .NET Framework. UTF-8.
std::string system_description();

}  // namespace mixwalk
