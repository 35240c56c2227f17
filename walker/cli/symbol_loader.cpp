#include "walker/cli/symbol_loader.h"

#include <fmt/format.h>

#include <algorithm>

#include "walker/base/count_words.h"
#include "walker/base/printable.h"
#include "walker/base/terminal.h"
#include "walker/cli/output/print_failure.h"

namespace mixwalk {
namespace {

constexpr std::chrono::milliseconds kShowEvery{200};
constexpr std::size_t kMaxNamed = 5, kMaxName = 100, kMaxProblems = 10;

std::string megabytes(std::uint64_t bytes) { return fmt::format("{:.1f}", static_cast<double>(bytes) / 1e6); }

// "a.pdb, b.pdb and 3 more"
template <class Range>
std::string names_of(const Range& all) {
  std::string text;
  std::size_t named = 0;
  for (const auto& one : all) {
    if (named == kMaxNamed) return text + " and " + std::to_string(all.size() - kMaxNamed) + " more";
    text += (named++ == 0 ? "" : ", ") + printable(one.name, kMaxName);
  }
  return text;
}

}  // namespace

ProgressLine::Terminal error_terminal() {
  if (!is_terminal(stderr)) return {};
  return {.stream = stderr, .obeys_escapes = false, .columns = [] { return terminal_columns(stderr); }};
}

std::string progress_text(const LoadProgress& progress) {
  if (progress.bytes == 0) return "asking for " + printable(progress.name, kMaxName);
  std::string text = "loading " + printable(progress.name, kMaxName) + ", " + megabytes(progress.bytes);
  if (progress.of != 0) text += " of " + megabytes(progress.of);
  text += " MB";
  if (progress.time.count() > 0) {
    text += ", " + megabytes(progress.bytes * 1000 / static_cast<std::uint64_t>(progress.time.count())) + " MB/s";
  }
  return text;
}

SymbolLoader::SymbolLoader(const SymbolPath& path, const SymbolChoice& choice, std::unique_ptr<HttpGet> http,
                           ProgressLine::Terminal terminal)
    : terminal_(std::move(terminal)),
      asking_(choice.asking),
      asks_(!path.servers.empty()),
      http_(std::move(http)),
      servers_(path.servers, *http_, *this, choice.limits) {}

std::optional<FetchedFile> SymbolLoader::fetch(const StoreKey& key, const FileCheck& check) {
  if (!interrupt_ && !said_) interrupt_.emplace();
  line_.emplace(terminal_);
  auto fetched = servers_.fetch(key, check);
  unshown_.reset();
  line_->clear();
  line_.reset();
  return fetched;
}

void SymbolLoader::show(const LoadProgress& progress) {
  unshown_ = progress;
  show_unshown();
}

// A server may be silent from now on, so what could not be shown at once is shown here.
bool SymbolLoader::stop() {
  show_unshown();
  return interrupt_ && interrupt_->pressed();
}

void SymbolLoader::show_unshown() {
  const auto now = std::chrono::steady_clock::now();
  if (!unshown_ || now - shown_ < kShowEvery) return;
  shown_ = now;
  line_->show(progress_text(*unshown_));
  unshown_.reset();
}

std::vector<std::string> SymbolLoader::lines(const std::vector<MissingPdb>& missing) const {
  std::vector<std::string> lines;
  std::vector<SymbolServers::Loaded> loaded = servers_.loaded();
  while (!loaded.empty()) {
    const SymbolServers::Loaded first = loaded.front();
    const auto rest = std::stable_partition(loaded.begin(), loaded.end(), [&](const SymbolServers::Loaded& one) {
      return one.url == first.url && one.store == first.store;
    });
    const std::vector<SymbolServers::Loaded> same(loaded.begin(), rest);
    loaded.erase(loaded.begin(), rest);
    std::uint64_t bytes = 0;
    for (const SymbolServers::Loaded& one : same) bytes += one.bytes;
    lines.push_back(fmt::format("loaded {} ({} MB) from {} into {}: {}", count_words(same.size(), "file"),
                                megabytes(bytes), first.url, quoted_path(first.store), names_of(same)));
  }
  const std::vector<std::string>& problems = servers_.problems();
  const std::size_t shown = std::min(problems.size(), kMaxProblems);
  lines.insert(lines.end(), problems.begin(), problems.begin() + static_cast<std::ptrdiff_t>(shown));
  if (shown < problems.size()) lines.push_back(count_words(problems.size() - shown, "more problem") + " like these");
  if (missing.empty() || asking_ == SymbolAsking::offline) return lines;
  lines.push_back(count_words(missing.size(), "PDB") + (missing.size() == 1 ? " was" : " were") +
                  " not found: " + names_of(missing) + advice());
  return lines;
}

std::string SymbolLoader::advice() const {
  if (asks_ || asking_ != SymbolAsking::by_path) return {};
  return "; with --symbols online, mixwalk asks Microsoft's symbol server";
}

void SymbolLoader::say(const std::vector<MissingPdb>& missing) {
  release_ctrl_c();
  said_ = true;
  for (const std::string& line : lines(missing)) print_failure({ExitCode::ok, line});
}

}  // namespace mixwalk
