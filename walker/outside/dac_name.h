#pragma once

#include <string>
#include <string_view>

#include "walker/outside/clr_questions.h"

namespace mixwalk {

ClrMethod method_of_dac_name(std::string_view name, bool dynamic);

}  // namespace mixwalk
