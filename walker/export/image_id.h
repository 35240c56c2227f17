#pragma once

#include <string>

#include "walker/model/snapshot.h"

namespace mixwalk {

// By what symbol servers find the very image: its timestamp in eight upper-case hexadecimal digits,
// and right behind them SizeOfImage in lower-case ones. Empty: neither is known.
std::string code_id(const Module& module);

}  // namespace mixwalk
