#pragma once

#include <memory>
#include <string>

#include "walker/clr/clr_questions.h"
#include "walker/model/runtime_source.h"
#include "walker/target/target.h"

namespace mixwalk {

// The runtime of a target, ready to be asked.
struct OpenedClr {
  // Null if there is no runtime, or nothing that could be asked about it.
  std::unique_ptr<ClrQuestions> questions;
  std::string obstacle;  // why questions is null, one line; empty if the target has no runtime
  RuntimeAnswers answers;
};

// Opens the data contracts of a target's runtime, if `source` allows them. If the result has no questions, the
// debugging library may be asked, unless `source` forbids it; `obstacle` then says why the contracts do not answer.
// Not frozen-safe.
OpenedClr open_contracts(const Target& target, RuntimeSource source);

}  // namespace mixwalk
