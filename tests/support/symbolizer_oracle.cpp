#include "tests/support/symbolizer_oracle.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace mixwalk::test {
namespace {

// "PATH:LINE:COLUMN"; the path may hold colons.
OracleFrame frame_of(std::string name, std::string place) {
  const auto column = place.rfind(':');
  const auto line = column == std::string::npos || column == 0 ? column : place.rfind(':', column - 1);
  OracleFrame frame{std::move(name), {}, 0};
  if (frame.name == "??") frame.name.clear();
  if (line == std::string::npos) return frame;
  frame.file = place.substr(0, line);
  if (frame.file == "??") frame.file.clear();
  frame.line = static_cast<std::uint32_t>(std::strtoul(place.c_str() + line + 1, nullptr, 10));
  return frame;
}

}  // namespace

std::vector<OracleChain> ask_symbolizer(const std::string& image, const std::vector<std::uint32_t>& rvas,
                                        OracleNames names, std::string& problem) {
  namespace fs = std::filesystem;
  if (!fs::exists(MIXWALK_SYMBOLIZER)) {
    problem = "no oracle (llvm-symbolizer-19): install llvm-19";
    return {};
  }
  const std::string in = image + ".addresses", out = image + ".answers";
  std::ofstream addresses(in);
  for (const std::uint32_t rva : rvas) addresses << std::hex << "0x" << rva << '\n';
  addresses.close();
  const std::string command = std::string(MIXWALK_SYMBOLIZER) + " --obj='" + image +
                              "' --relative-address --no-demangle --functions=" +
                              (names == OracleNames::plain ? "short" : "linkage") + " <'" + in + "' >'" + out +
                              "'";
  if (std::system(command.c_str()) != 0) {
    problem = "failed: " + command;
    return {};
  }
  // For each address its frames, a line with the name (it may be empty) and one with the place; then an
  // empty line.
  std::vector<OracleChain> chains;
  std::ifstream answers(out);
  for (std::string name, place; std::getline(answers, name);) {
    chains.emplace_back();
    do {
      std::getline(answers, place);
      chains.back().push_back(frame_of(name, place));
    } while (std::getline(answers, name) && !name.empty());
  }
  if (chains.size() != rvas.size()) {
    problem = "other answers than questions: " + command;
    return {};
  }
  return chains;
}

}  // namespace mixwalk::test
