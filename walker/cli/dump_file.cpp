#include "walker/cli/dump_file.h"

#include <algorithm>
#include <optional>

#include "symbols/native_source.h"
#include "symbols/symboliser.h"
#include "unmanaged/minidump/mapped_file.h"
#include "walker/base/partial_file.h"
#include "walker/base/printable.h"
#include "walker/base/version.h"
#include "walker/check_calls.h"
#include "walker/cli/report.h"
#include "walker/cli/write_dump.h"
#include "walker/outside/dump_target.h"
#include "walker/outside/target_snapshot.h"
#include "walker/symbolise.h"

namespace mixwalk {
namespace {

constexpr std::size_t kMaxShownPath = 1000;
constexpr std::size_t kMaxShownPdbs = 64 * 1024;  // bytes

std::string quoted(const std::string& path) { return "\"" + printable(path, kMaxShownPath) + "\""; }

Failure unreadable(const std::string& path, std::string_view why, ExitCode code = ExitCode::input) {
  return {code, "cannot read " + quoted(path) + ": " + std::string(why)};
}

ExitCode code_of(MinidumpError error) {
  return error == MinidumpError::x86 || error == MinidumpError::arm ? ExitCode::wrong_bitness : ExitCode::input;
}

// What a person must know of the dump, beside its stacks.
void tell(const Minidump& dump, const DumpFileCommand& command) {
  if (dump.missing_bytes() != 0) {
    report({ExitCode::ok, quoted(command.file) + " is cut off: " + std::to_string(dump.missing_bytes()) +
                              " bytes of the process's memory are missing"});
  }
}

std::string missing_text(const std::vector<MissingPdb>& missing) {
  std::string text;
  for (const MissingPdb& pdb : missing) {
    text += "\n" + printable(symchk_manifest({pdb}), kMaxShownPdbs);
    if (text.size() > kMaxShownPdbs) break;
  }
  return std::to_string(missing.size()) + " PDBs were not found; as symchk /im takes them:" + text;
}

class DumpFileRun {
 public:
  DumpFileRun(const DumpFileCommand& command, const DumpFileHost& host, const Minidump& dump)
      : command_(command),
        host_(host),
        path_(parse_symbol_path(command.symbol_path.value_or(host.default_symbol_path))),
        images_(host.local, disk_, path_),
        target_(dump, images_),
        files_(images_, target_.dumped_memory(), target_.images()),
        sources_(files_, disk_, path_),
        symboliser_(files_, {[this](auto file) { return sources_.open(std::move(file)); }}) {}

  ExitCode run(PartialFile* file) {
    UnmatchedThreads unmatched(command_.threads);
    for (const TargetThread& thread : target_.threads()) unmatched.met(thread.os_id, thread.name);
    std::string obstacle;
    const auto clr = host_.open_clr(target_, obstacle);
    Snapshot snapshot = target_snapshot(target_, clr.get(), obstacle, [this](const TargetThread& thread) {
      return command_.threads.contains(thread.os_id, thread.name);
    });
    snapshot.way = Way::file;
    snapshot.tool_version = kVersion;
    const Failure missing{ExitCode::no_thread, quoted(command_.file) + " has no " + unmatched.text()};
    if (!unmatched.empty() && snapshot.threads.empty()) return report(missing);
    log("symbolising");
    symbolise(snapshot, symboliser_);
    CallChecker calls(symboliser_, loaded_images(snapshot));
    check_calls(snapshot, calls);
    if (!sources_.missing().empty()) log(missing_text(sources_.missing()));
    if (const auto failure = write_dump(snapshot, command_, host_.colour, file, calls)) return report(*failure);
    return unmatched.empty() ? ExitCode::ok : report(missing);
  }

 private:
  void log(const std::string& text) const {
    if (command_.verbose && host_.log) host_.log(text);
  }

  const DumpFileCommand& command_;
  const DumpFileHost& host_;
  SymbolPath path_;
  DiskImageFiles disk_;
  DiskImages images_;
  DumpTarget target_;
  TargetImages files_;
  NativeSources sources_;
  Symboliser symboliser_;
};

}  // namespace

bool wants_colour(const DumpOutput& output, bool terminal) {
  switch (output.colour) {
    case Colour::always: return true;
    case Colour::never: return false;
    case Colour::automatic: break;
  }
  return !output.output && terminal;
}

ExitCode run(const DumpFileCommand& command, const DumpFileHost& host) {
  std::optional<PartialFile> output;
  if (command.output) {
    output.emplace(*command.output);
    if (!output->error().empty()) return report(unwritable(command, output->error()));
  }
  const MappedFile file(command.file);
  if (!file.error().empty()) return report(unreadable(command.file, file.error()));
  const Minidump dump = Minidump::parse(file.bytes());
  if (dump.error() != MinidumpError::none) {
    return report(unreadable(command.file, to_string(dump.error()), code_of(dump.error())));
  }
  tell(dump, command);
  return DumpFileRun(command, host, dump).run(output ? &*output : nullptr);
}

}  // namespace mixwalk
