#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "symbols/server/symbol_servers.h"
#include "symbols/symbol_path.h"
#include "walker/base/interrupt.h"
#include "walker/cli/options/options.h"
#include "walker/cli/output/progress_line.h"

namespace mixwalk {

// Standard error, if it is a terminal.
ProgressLine::Terminal error_terminal();

// Loads the symbol files of one command from the servers of its symbol path. While a file is loaded, a line on the
// terminal says how far it is. From the first file on, Ctrl-C ends the loading instead of the command, until
// release_ctrl_c() (then again from the next file on) or say(). Not frozen-safe; one thread at a time.
class SymbolLoader final : public StoreFetch, private LoadWatch {
 public:
  SymbolLoader(const SymbolPath& path, const SymbolChoice& choice,
               std::unique_ptr<HttpGet> http = system_http_get(), ProgressLine::Terminal terminal = error_terminal());

  // This object, or null if no server is to be asked.
  StoreFetch* servers() noexcept { return asks_ ? this : nullptr; }
  std::optional<FetchedFile> fetch(const StoreKey& key, const FileCheck& check) override;

  // What was loaded from where, what went wrong, and what is missing, each as one line; also what to do to get the
  // missing PDBs.
  std::vector<std::string> lines(const std::vector<MissingPdb>& missing) const;
  // What to do to get missing PDBs, behind a sentence that says that they are missing; empty if nothing helps.
  std::string advice() const;
  // Prints the lines on standard error. From then on, Ctrl-C ends the command as usual, also while a file is loaded.
  void say(const std::vector<MissingPdb>& missing);
  // Ctrl-C ends the command again, as usual.
  void release_ctrl_c() noexcept { interrupt_.reset(); }

 private:
  void show(const LoadProgress& progress) override;
  bool stop() override;
  void show_unshown();

  const ProgressLine::Terminal terminal_;
  const SymbolAsking asking_;
  const bool asks_;
  std::unique_ptr<HttpGet> http_;
  SymbolServers servers_;
  std::optional<InterruptCatcher> interrupt_;
  bool said_ = false;  // whether say() was called
  std::optional<ProgressLine> line_;  // while a file is loaded
  std::chrono::steady_clock::time_point shown_{};
  std::optional<LoadProgress> unshown_;  // came too soon after the one that is shown
};

// "loading ntdll.pdb, 1.5 of 3.0 MB, 0.7 MB/s". Pure.
std::string progress_text(const LoadProgress& progress);

}  // namespace mixwalk
