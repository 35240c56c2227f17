#include "walker/cli/dump_file.h"

#include <algorithm>
#include <optional>

#include "symbols/managed_lines.h"
#include "symbols/symboliser.h"
#include "unmanaged/minidump/mapped_file.h"
#include "walker/base/partial_file.h"
#include "walker/base/printable.h"
#include "walker/base/version.h"
#include "walker/cli/local_symbols.h"
#include "walker/cli/output/print_failure.h"
#include "walker/cli/output/write_dump.h"
#include "walker/cli/output/write_output.h"
#include "walker/locks/native_waits.h"
#include "walker/naming/check_calls.h"
#include "walker/naming/symbolise.h"
#include "walker/outside/target_snapshot.h"
#include "walker/target/dump_target.h"

namespace mixwalk {
namespace {

constexpr std::string_view kCut = "it became shorter while it was read, or a part of it cannot be read";

Failure unreadable(const std::string& path, std::string_view why, ExitCode code = ExitCode::input) {
  return {code, "cannot read " + quoted_path(path) + ": " + std::string(why)};
}

ExitCode code_of(MinidumpError error) {
  return error == MinidumpError::x86 || error == MinidumpError::arm ? ExitCode::wrong_bitness : ExitCode::input;
}

// Reports the facts about the dump that a person must know, besides its stacks.
void tell(const Minidump& dump, const std::string& file) {
  if (dump.missing_bytes() != 0) {
    print_failure({ExitCode::ok, quoted_path(file) + " is cut off: " + std::to_string(dump.missing_bytes()) +
                                     " bytes of the process's memory are missing"});
  }
}

class DumpFileRun {
 public:
  DumpFileRun(const DumpFileCommand& command, const DumpFileServices& host, const MappedFile& file,
              const Minidump& dump)
      : command_(command),
        host_(host),
        mapped_(file),
        path_(parse_symbol_path(host.symbol_path)),
        images_(host.local, disk_, path_),
        target_(dump, images_),
        files_(images_, target_.dumped_memory(), target_.images()),
        symboliser_(files_, disk_, path_),
        lines_(host.local, disk_, path_) {}

  ExitCode run(PartialFile* file) {
    UnmatchedThreads unmatched(command_.threads);
    for (const TargetThread& thread : target_.threads()) unmatched.met(thread.os_id, thread.name);
    Snapshot snapshot = stacks();
    const Failure missing{ExitCode::no_thread, quoted_path(command_.file) + " has no " + unmatched.text()};
    if (!unmatched.empty() && snapshot.threads.empty() && !mapped_.cut()) return print_failure(missing);
    CallChecker calls = call_checker(snapshot);
    name(snapshot, calls);
    const std::vector<MissingPdb> unfound = missing_of(symboliser_, lines_);
    if (!unfound.empty()) log(missing_text(unfound));
    if (mapped_.cut()) return print_failure(unreadable(command_.file, kCut));
    if (!snapshot.unasked.empty()) {
      print_failure({ExitCode::ok, quoted_path(command_.file) + ": managed frames are missing: " + snapshot.unasked});
    }
    if (const auto failure = write_dump(snapshot, command_, host_.colour, file, calls)) return print_failure(*failure);
    return unmatched.empty() ? ExitCode::ok : print_failure(missing);
  }

  // The stacks, without names of native frames.
  Snapshot stacks() {
    std::string obstacle;
    const auto clr = host_.open_clr(target_, obstacle);
    Snapshot snapshot = target_snapshot(target_, clr.get(), obstacle, [this](const TargetThread& thread) {
      return command_.threads.contains(thread.os_id, thread.name);
    });
    snapshot.capture = CaptureMethod::file;
    snapshot.omissions.threads = !command_.threads.empty();
    snapshot.tool_version = kVersion;
    return snapshot;
  }

  CallChecker call_checker(const Snapshot& snapshot) { return CallChecker(symboliser_, loaded_images(snapshot)); }

  // `calls`: of this snapshot.
  void name(Snapshot& snapshot, CallChecker& calls) {
    log("symbolising");
    symbolise(snapshot, symboliser_);
    check_calls(snapshot, calls);
    for (Assembly& assembly : snapshot.assemblies) identify(assembly, lines_);
    add_lines(snapshot, lines_);
    add_native_locks(snapshot, target_);
  }

 private:
  void log(const std::string& text) const {
    if (command_.verbose && host_.log) host_.log(text);
  }

  const DumpFileCommand& command_;
  const DumpFileServices& host_;
  const MappedFile& mapped_;
  SymbolPath path_;
  DiskImageFiles disk_;
  DiskImages images_;
  DumpTarget target_;
  TargetImages files_;
  Symboliser symboliser_;
  ManagedLines lines_;
};

}  // namespace

bool wants_colour(const DumpOutput& output, bool terminal) {
  return wants_colour(output.colour, output.output.has_value(), terminal);
}

bool wants_colour(Colour colour, bool to_file, bool terminal) {
  switch (colour) {
    case Colour::always: return true;
    case Colour::never: return false;
    case Colour::automatic: break;
  }
  return !to_file && terminal;
}

Outcome<Snapshot> read_dump_file(const std::string& path, const DumpFileServices& host) {
  const MappedFile file(path);
  if (!file.error().empty()) return unreadable(path, file.error());
  const Minidump dump = Minidump::parse(file.bytes());
  if (dump.error() != MinidumpError::none) return unreadable(path, to_string(dump.error()), code_of(dump.error()));
  tell(dump, path);
  DumpFileCommand command;
  command.file = path;
  DumpFileRun look(command, host, file, dump);
  Snapshot snapshot = look.stacks();
  CallChecker calls = look.call_checker(snapshot);
  look.name(snapshot, calls);
  if (file.cut()) return unreadable(path, kCut);
  return snapshot;
}

ExitCode run(const DumpFileCommand& command, const DumpFileServices& host) {
  std::optional<PartialFile> output;
  if (command.output) {
    if (would_overwrite(*command.output, command.file)) {
      return print_failure(unwritable_output(command.output, "that would overwrite the dump file that is read"));
    }
    output.emplace(*command.output);
    if (!output->error().empty()) return print_failure(unwritable_output(command.output, output->error()));
  }
  const MappedFile file(command.file);
  if (!file.error().empty()) return print_failure(unreadable(command.file, file.error()));
  const Minidump dump = Minidump::parse(file.bytes());
  if (dump.error() != MinidumpError::none) {
    return print_failure(unreadable(command.file, to_string(dump.error()), code_of(dump.error())));
  }
  tell(dump, command.file);
  return DumpFileRun(command, host, file, dump).run(output ? &*output : nullptr);
}

}  // namespace mixwalk
