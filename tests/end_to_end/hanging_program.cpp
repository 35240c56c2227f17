#include "tests/end_to_end/hanging_program.h"

#include <gtest/gtest.h>

#include <sstream>
#include <vector>

namespace mixwalk {

std::optional<std::map<std::uint64_t, std::string>> read_until_ready(ChildProcess& program) {
  std::map<std::uint64_t, std::string> names;
  while (const auto line = program.read_line()) {
    if (line->starts_with("READY")) return names;
    std::istringstream in(*line);
    std::string word, name;
    std::uint32_t id = 0;
    in >> word >> id >> std::ws;
    std::getline(in, name);
    EXPECT_EQ(word, "THREAD") << *line;
    names[id] = name;
  }
  return std::nullopt;
}

HangingProgram::HangingProgram(const std::string& way)
    : process({fixture("hangs.exe"), "--way", way},
              StartOptions{.environment = {{"DOTNET_PROCESSOR_COUNT", "4"}}}) {
  auto said = read_until_ready(process);
  EXPECT_TRUE(said) << way << " did not start";
  if (said) names = std::move(*said);
}

std::uint32_t HangingProgram::thread(const std::string& name) const {
  for (const auto& [id, other] : names) {
    if (other == name) return static_cast<std::uint32_t>(id);
  }
  return 0;
}

}  // namespace mixwalk
