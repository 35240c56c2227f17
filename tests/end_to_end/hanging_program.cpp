#include "tests/end_to_end/hanging_program.h"

#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "tests/support/win/wine.h"

namespace mixwalk {

std::size_t wanted_pairs(std::size_t ordinary) {
  return static_cast<std::size_t>(wanted("MIXWALK_PAIRS", static_cast<int>(ordinary), 1));
}

int wanted_every_ms(int ordinary) { return wanted("MIXWALK_EVERY_MS", ordinary, 500); }

void compare_neighbours(std::span<const Snapshot> dumps,
                        const std::function<void(std::span<const Snapshot>, const Findings&)>& look) {
  for (const std::size_t count : {2, 3}) {
    const std::vector<std::string> files(count, "series");
    for (std::size_t first = 0; first + count <= dumps.size(); ++first) {
      const auto some = dumps.subspan(first, count);
      look(some, find_hangs(some, files));
    }
  }
}

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

// Folklore: Windows Forms calls GetThreadDpiHostingBehavior from Windows 10 1803 on, which Wine 8's user32.dll does not
// have ("Unable to find an entry point"). Remedy: the program is told that the system is older. Test:
// healthy_test.
void prepare_desktop() {
  if (!under_wine()) return;
  constexpr char kVersion[] = "win81";
  EXPECT_EQ(RegSetKeyValueA(HKEY_CURRENT_USER, "Software\\Wine\\AppDefaults\\desktop.exe", "Version", REG_SZ, kVersion,
                            sizeof kVersion),
            0);
}

HangingProgram::HangingProgram(const std::string& way, int seconds, const std::string& program)
    : process({fixture(program), "--way", way, "--seconds", std::to_string(seconds)},
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
