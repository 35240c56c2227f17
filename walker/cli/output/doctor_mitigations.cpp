#include "walker/cli/output/doctor_mitigations.h"

#include <fmt/format.h>

namespace mixwalk {

std::vector<DoctorLine> mitigation_lines(const MitigationPolicies& policies) {
  constexpr const char* kCheck = "mitigation policies";
  if (!any_known(policies)) return {};
  std::vector<DoctorLine> lines;
  for (const MitigationEffect& effect : mitigation_effects(policies)) {
    lines.push_back({.state = effect.refuses ? DoctorLine::State::bad : DoctorLine::State::note,
                     .check = kCheck,
                     .found = effect.found,
                     .advice = effect.advice,
                     .code = effect.refuses ? ExitCode::refused : ExitCode::ok});
  }
  if (!lines.empty()) return lines;
  const std::string others = harmless_mitigations(policies);
  if (others.empty()) return {{.check = kCheck, .found = "none keeps mixwalk.dll out"}};
  return {{.check = kCheck, .found = fmt::format("none keeps mixwalk.dll out (switched on: {})", others)}};
}

}  // namespace mixwalk
