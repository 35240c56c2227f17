#include "walker/cli/output/doctor_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "walker/base/printable.h"
#include "walker/base/version.h"

namespace mixwalk {
namespace {

constexpr std::size_t kMaxShown = 1000;  // bytes of a text that does not come from mixwalk

const char* word(DoctorLine::State state) {
  switch (state) {
    case DoctorLine::State::good: return "good";
    case DoctorLine::State::note: return "note";
    case DoctorLine::State::bad: break;
  }
  return "bad";
}

}  // namespace

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

std::optional<Failure> failure_of(const DoctorReport& report) {
  const auto bad = std::ranges::find(report.lines, DoctorLine::State::bad, &DoctorLine::state);
  if (bad == report.lines.end()) return std::nullopt;
  return Failure{bad->code, bad->check + ": " + bad->found + (bad->advice.empty() ? "" : ": " + bad->advice)};
}

std::string doctor_text(const DoctorReport& report) {
  std::size_t width = 0;
  for (const DoctorLine& line : report.lines) width = std::max(width, line.check.size());
  std::string text;
  for (const DoctorLine& line : report.lines) {
    text += fmt::format("{:<4}  {:<{}}  {}", word(line.state), line.check, width, printable(line.found, kMaxShown));
    if (!line.advice.empty()) text += ": " + printable(line.advice, kMaxShown);
    text += '\n';
  }
  return text;
}

std::string doctor_json(const DoctorReport& report) {
  using Json = nlohmann::ordered_json;
  Json lines = Json::array();
  for (const DoctorLine& line : report.lines) {
    lines.push_back({{"state", word(line.state)},
                     {"check", line.check},
                     {"found", line.found},
                     {"advice", line.advice.empty() ? Json(nullptr) : Json(line.advice)},
                     {"exit_code", static_cast<int>(line.code)}});
  }
  Json json = {{"format", "mixwalk-doctor"},
               {"version", 1},
               {"tool_version", kVersion},
               {"process_id", report.process_id ? Json(*report.process_id) : Json(nullptr)},
               {"lines", std::move(lines)},
               {"trial", nullptr}};
  if (const auto& trial = report.trial) {
    json["trial"] = {{"dumps", trial->dumps},
                     {"stacks", trial->stacks},
                     {"whole", trial->whole},
                     {"resumed", trial->resumed},
                     {"frozen_ns",
                      {{"p50", trial->frozen.p50_ns}, {"p99", trial->frozen.p99_ns}, {"max", trial->frozen.max_ns}}}};
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace mixwalk
