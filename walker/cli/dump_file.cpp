#include "walker/cli/dump_file.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <system_error>

#include "symbols/managed_lines.h"
#include "symbols/symboliser.h"
#include "unmanaged/minidump/mapped_file.h"
#include "walker/base/count_words.h"
#include "walker/base/partial_file.h"
#include "walker/base/version.h"
#include "walker/cli/chosen_threads.h"
#include "walker/cli/file_kind.h"
#include "walker/cli/input_file.h"
#include "walker/cli/local_symbols.h"
#include "walker/cli/output/print_failure.h"
#include "walker/cli/output/write_dump.h"
#include "walker/cli/output/write_output.h"
#include "walker/locks/native_waits.h"
#include "walker/naming/check_calls.h"
#include "walker/naming/symbolise.h"
#include "walker/outside/target_snapshot.h"
#include "walker/shown/words.h"
#include "walker/target/dump_target.h"

namespace mixwalk {
namespace {

constexpr std::string_view kCut = "it became shorter while it was read, or a part of it cannot be read";

// A word without an extension that is no file was presumably meant as the name of a process.
Failure unopened(const std::string& path, const std::string& why) {
  Failure failure = unreadable_file(path, why);
  std::error_code ignored;
  if (path != kStandardInput && extension_of(path).empty() && !std::filesystem::exists(path_of(path), ignored)) {
    failure.message += "; a process's name goes after -n, a program after --";
  }
  return failure;
}

// Why there are no stacks in the file. Reports the facts about the dump that a person must know, besides its stacks.
std::optional<Failure> unusable(const std::string& path, const MappedFile& file, const Minidump& dump) {
  if (!file.error().empty()) return unopened(path, file.error());
  const std::span<const std::byte> bytes = file.bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (const std::string why = kind_refusal("dump", file_kind(text)); !why.empty()) return unreadable_file(path, why);
  const MinidumpError error = dump.error();
  if (error == MinidumpError::x86 || error == MinidumpError::arm || error == MinidumpError::wow64) {
    return Failure{ExitCode::wrong_bitness, unreadable_file(path, to_string(error)).message};
  }
  if (error != MinidumpError::none) return unreadable_file(path, to_string(error));
  if (dump.missing_bytes() != 0) {
    const std::uint64_t missing = dump.missing_bytes();
    print_failure({ExitCode::ok, input_words(path) + " is cut off: " + count_words(missing, "byte") +
                                     " of the process's memory " + (missing == 1 ? "is" : "are") + " missing"});
  }
  return std::nullopt;
}

// The names of the images in which stacks end, because neither the dump nor a file has their unwind data. Sorted.
std::vector<std::string> images_that_end_stacks(const Snapshot& snapshot) {
  std::set<std::string> names;
  for (const Thread& thread : snapshot.threads) {
    const std::vector<StackFrame>& frames = thread.stack.frames;
    for (std::size_t i = 1; i < frames.size(); ++i) {
      if (frames[i].kind != FrameKind::gap || frames[i].why != OpenReason::unreadable_unwind) continue;
      const std::int32_t module = frames[i - 1].module;
      if (module != Frame::kNone) names.insert(module_name(snapshot.modules[static_cast<std::size_t>(module)]));
    }
  }
  return {names.begin(), names.end()};
}

class DumpFileRun {
 public:
  DumpFileRun(const DumpFileCommand& command, const DumpFileServices& host, const MappedFile& file,
              const Minidump& dump, DumpFileSymbols& symbols)
      : command_(command),
        host_(host),
        mapped_(file),
        symbols_(symbols),
        images_(host.local, disk_, symbols.path, symbols.loader.servers()),
        target_(dump, images_),
        files_(images_, target_.dumped_memory(), target_.images()),
        symboliser_(files_, disk_, symbols.path, symbols.loader.servers()),
        lines_(host.local, disk_, symbols.path, symbols.loader.servers()) {}

  ExitCode run(Output& output) {
    UnmatchedThreads unmatched(command_.threads);
    for (const TargetThread& thread : target_.threads()) unmatched.met(thread.os_id, thread.name);
    Snapshot snapshot = stacks(unmatched);
    const Failure missing{ExitCode::no_thread, input_words(command_.file) + " has no " + unmatched.text() +
                                                       unmatched.advice()};
    if (!unmatched.empty() && snapshot.threads.empty() && !mapped_.cut()) return print_failure(missing);
    CallChecker calls = call_checker(snapshot);
    name(snapshot, calls);
    say_symbol_problems(symbols_.problems);
    if (mapped_.cut()) return print_failure(unreadable_file(command_.file, kCut));
    if (!snapshot.unasked.empty()) {
      print_failure({ExitCode::ok, input_words(command_.file) + ": managed frames are missing: " + snapshot.unasked});
    }
    say_missing_images();
    symbols_.loader.say(symbols_.missing);
    const bool colour = wants_colour(command_, host_.show_colours());
    if (const auto failure = write_dump(snapshot, command_, colour, output, calls)) return print_failure(*failure);
    if (!unmatched.empty()) return print_failure(missing);
    return snapshot.crash ? ExitCode::crash : ExitCode::ok;
  }

  void say_missing_images() const {
    std::string images = missing_images_text(missing_images_);
    if (!images.empty()) images += symbols_.loader.advice();  // servers have images too
    say(images);
    say(missing_assemblies_text(missing_assemblies_));
  }

  // The stacks, without names of native frames.
  Snapshot stacks(UnmatchedThreads& unmatched) {
    say(overlapping_images_text(target_.overlapping()));
    const OpenedClr clr = host_.open_clr(target_, command_, symbols_.loader.servers());
    if (const std::string way = sentence(clr.answers); !way.empty()) log(way);
    Snapshot snapshot =
        target_snapshot(target_, clr.questions.get(), clr.obstacle, [this](const TargetThread& thread) {
          return command_.threads.has_main() || command_.threads.contains(thread.os_id, thread.name);
        }, {.locks = true, .heap = command_.async});
    snapshot.answers = clr.answers;
    keep_chosen_threads(snapshot, command_.threads, unmatched);
    if (const std::string agreement = sentence(snapshot.calls); !agreement.empty()) log(agreement);
    missing_images_ = images_that_end_stacks(snapshot);
    if (clr.questions != nullptr) missing_assemblies_ = clr.questions->missing_assemblies();
    snapshot.capture = CaptureMethod::file;
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
    const std::vector<MissingPdb> missing = missing_of(symboliser_, lines_);
    if (const std::string unfound = missing_text(missing); !unfound.empty()) log(unfound);
    symbols_.missing.insert(symbols_.missing.end(), missing.begin(), missing.end());
    std::ranges::sort(symbols_.missing);
    symbols_.missing.erase(std::unique(symbols_.missing.begin(), symbols_.missing.end()), symbols_.missing.end());
    for (std::string& problem : problems_of(symboliser_, lines_)) {
      std::vector<std::string>& known = symbols_.problems;
      if (std::ranges::find(known, problem) == known.end()) known.push_back(std::move(problem));
    }
  }

 private:
  // A line about the file. An empty text is not shown.
  void say(const std::string& text) const {
    if (!text.empty()) print_failure({ExitCode::ok, input_words(command_.file) + ": " + text});
  }
  void log(const std::string& text) const {
    if (command_.verbose && host_.log) host_.log(text);
  }

  const DumpFileCommand& command_;
  const DumpFileServices& host_;
  const MappedFile& mapped_;
  DumpFileSymbols& symbols_;
  DiskImageFiles disk_;
  DiskImages images_;
  DumpTarget target_;
  TargetImages files_;
  Symboliser symboliser_;
  ManagedLines lines_;
  std::vector<std::string> missing_images_, missing_assemblies_;
};

// The file, or standard input, which is read into memory.
MappedFile open_dump_file(const std::string& path) {
  if (path != kStandardInput) return MappedFile(path);
  auto bytes = file_bytes(path, [](std::string_view first) { return first.starts_with("MDMP"); });
  if (!bytes) {
    const std::size_t before_why = unreadable_file(path, "").message.size();
    return MappedFile(MappedFile::Content{.bytes = {}, .error = bytes.failure().message.substr(before_why)});
  }
  return MappedFile(MappedFile::Content{.bytes = std::move(*bytes), .error = {}});
}

}  // namespace

Outcome<Snapshot> read_dump_file(const DumpFileCommand& command, const DumpFileServices& host,
                                 DumpFileSymbols& symbols) {
  const MappedFile file = open_dump_file(command.file);
  const Minidump dump = Minidump::parse(file);
  if (auto failure = unusable(command.file, file, dump)) return std::move(*failure);
  DumpFileRun look(command, host, file, dump, symbols);
  UnmatchedThreads unmatched(command.threads);
  Snapshot snapshot = look.stacks(unmatched);
  CallChecker calls = look.call_checker(snapshot);
  look.name(snapshot, calls);
  look.say_missing_images();
  if (file.cut()) return unreadable_file(command.file, kCut);
  return snapshot;
}

ExitCode run(const DumpFileCommand& command, const DumpFileServices& host) {
  if (command.output && would_overwrite(*command.output, command.file)) {
    return print_failure(unwritable_output(command.output, "that would overwrite the dump file that is read"));
  }
  if (const auto failure = refuse_terminal(*command.format, command.output)) return print_failure(*failure);
  say_missing_folders(command.symbols);
  Output output(command.output);
  if (const auto failure = output.failure()) return print_failure(*failure);
  const MappedFile file = open_dump_file(command.file);
  const Minidump dump = Minidump::parse(file);
  if (const auto failure = unusable(command.file, file, dump)) return print_failure(*failure);
  DumpFileSymbols symbols(command.symbols);
  return DumpFileRun(command, host, file, dump, symbols).run(output);
}

}  // namespace mixwalk
