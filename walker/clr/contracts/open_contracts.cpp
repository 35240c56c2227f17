#include "walker/clr/contracts/open_contracts.h"

#include <utility>

#include "walker/clr/contracts/contract_questions.h"

namespace mixwalk {

OpenedClr open_contracts(const Target& target, RuntimeSource source) {
  if (target.runtime().name.empty()) return {};
  if (source == RuntimeSource::debugging_library) {
    return {.questions = nullptr, .obstacle = "the debugging library was asked for"};
  }
  auto questions = ContractQuestions::open(target);
  if (!questions) return {.questions = nullptr, .obstacle = questions.failure().message};
  return {.questions = std::move(*questions), .obstacle = {}, .answers = {RuntimeSource::contracts, {}}};
}

}  // namespace mixwalk
