#include "walker/cli/win/local_symbols.h"

#include <spdlog/spdlog.h>

#include <vector>

#include "unmanaged/win/utf8.h"
#include "walker/base/printable.h"
#include "walker/session/win/environment.h"

namespace mixwalk {
namespace {

SymbolPath path_of(const std::optional<std::string>& given) {
  if (given) return parse_symbol_path(*given);
  const auto variable = environment_variable(L"_NT_SYMBOL_PATH");
  return variable ? parse_symbol_path(to_utf8(*variable)) : SymbolPath();
}

}  // namespace

LocalSymbols::LocalSymbols(const std::optional<std::string>& symbol_path)
    : sources_(files_, disk_, path_of(symbol_path)),
      symboliser_(files_, {[this](auto file) { return sources_.open(std::move(file)); }}),
      lines_(files_, disk_, path_of(symbol_path)) {}

void LocalSymbols::log_missing() const {
  std::vector<MissingPdb> missing = sources_.missing();
  missing.insert(missing.end(), lines_.missing().begin(), lines_.missing().end());
  if (missing.empty()) return;
  // The target names them.
  constexpr std::size_t kMaxShown = 64 * 1024;
  std::string text;
  for (const MissingPdb& pdb : missing) {
    text += "\n" + printable(symchk_manifest({pdb}), kMaxShown);
    if (text.size() > kMaxShown) break;
  }
  spdlog::info("{} PDBs were not found; as symchk /im takes them:{}", missing.size(), text);
}

}  // namespace mixwalk
