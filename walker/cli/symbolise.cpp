#include "walker/cli/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <set>
#include <string>

#include "walker/base/count_words.h"
#include "walker/base/errno_text.h"
#include "walker/base/partial_file.h"
#include "walker/base/printable.h"
#include "walker/cli/file_kind.h"
#include "walker/cli/input_file.h"
#include "walker/cli/local_symbols.h"
#include "walker/cli/output/print_failure.h"
#include "walker/cli/output/write_output.h"
#include "walker/hang/standings.h"
#include "walker/naming/symbolise.h"
#include "walker/session/recording_collector.h"
#include "walker/store/record_sequence.h"
#include "walker/store/recording_writer.h"

namespace mixwalk {
namespace {

constexpr std::size_t kReadBytes = std::size_t{1} << 20;
// The limit for one record. mixwalk writes records of some megabytes.
constexpr std::size_t kMaxRecordBytes = std::size_t{1} << 30;
constexpr std::size_t kBatchBytes = std::size_t{1} << 20;

bool is_named(const Frame& frame) noexcept {
  return !frame.name.empty() && frame.symbol != SymbolKind::function_table;
}

// A file that is read record by record.
class RecordFile {
 public:
  // error() is empty, or says why the file cannot be read.
  explicit RecordFile(const std::string& path) { error_ = in_.open(path); }

  // The next record, valid until the next call. If the kind is Kind::more, the file cannot be read, and error() says
  // why.
  RecordSequence::Next next() {
    begin_ += used_;
    used_ = 0;
    while (error_.empty()) {
      const auto next = records_.next(rest(), is_all_);
      if (next.kind != RecordSequence::Next::Kind::more) {
        used_ = next.consumed;
        return next;
      }
      read();
    }
    return {};
  }
  // To be called at the end. The result includes the bytes that are left out.
  Cut cut() {
    Cut cut = records_.cut();
    while (error_.empty()) {
      cut.bytes += bytes_.size() - begin_;
      begin_ = bytes_.size();
      if (is_all_) break;
      read();
    }
    return cut;
  }
  const std::string& error() const noexcept { return error_; }
  void close() { in_.close(); }
  std::size_t chunks() const noexcept { return records_.cut().chunks; }
  // The bytes of the last record, with the magic in front of the header.
  std::string_view bytes() const { return rest().substr(0, used_); }
  // What was read behind the last record but one.
  std::string_view rest() const { return std::string_view(bytes_).substr(begin_); }

 private:
  void read() {
    bytes_.erase(0, begin_);
    begin_ = 0;
    const std::size_t had = bytes_.size();
    if (had >= kMaxRecordBytes) {
      error_ = "a record of it is larger than 1 GiB";
      return;
    }
    // The buffer grows in proportion to its size, so that a large record is not copied each time another part
    // of the record is read.
    const std::size_t wanted = std::max(kReadBytes, had);
    bytes_.resize(had + wanted);
    errno = 0;
    std::istream& in = in_.stream();
    in.read(bytes_.data() + had, static_cast<std::streamsize>(wanted));
    bytes_.resize(had + static_cast<std::size_t>(in.gcount()));
    if (in.bad()) error_ = errno_text();
    is_all_ = !in;
  }

  InputFile in_;
  std::string error_;
  RecordSequence records_;
  std::string bytes_;
  std::size_t begin_ = 0;  // where the last record begins
  std::size_t used_ = 0;   // bytes of the last record
  bool is_all_ = false;
};

// Symbolises one recording while it is copied from one file to the other.
class Symbolising {
 public:
  explicit Symbolising(const SymboliseCommand& command)
      : command_(command),
        symbols_(command.symbols),
        collector_([this](Frame frame,
                          const Module& module) { return name(std::move(frame), module); },
                   [this](Frame& frame, const Assembly& assembly) {
                     add_missing_line(frame, assembly);
                   },
                   {[this](Module& module) { identify(module, symbols_.identities()); },
                    [this](Assembly& assembly) { identify(assembly, symbols_.lines()); }}) {}

  ExitCode run();

 private:
  std::vector<Frame> name(Frame frame, const Module& module);
  void add_missing_line(Frame& frame, const Assembly& assembly);
  // Takes the record that was read last.
  std::optional<Failure> take(const RecordFile& in, layout::File kind, RecordingWriter& writer);
  std::optional<Failure> flush(const RecordFile& in, bool is_header, RecordingWriter& writer);
  Failure unreadable(std::string_view why) const { return unreadable_file(command_.input, why); }
  void say_what_was_done(bool replaces) const;
  ExitCode say_what_is_missing();

  const SymboliseCommand& command_;
  LocalSymbols symbols_;
  RecordingCollector collector_;
  RecordedStandings standings_;
  std::string batch_;  // records that the collector has not got yet
  // Counts of frames in the recording's table, not in its samples: the same frame repeats in many samples.
  struct Count {
    std::uint64_t all = 0, before = 0, after = 0;
  };
  Count native_, managed_;
  std::uint64_t inlined_ = 0;           // inlined calls that were not in the input
  std::set<std::string> unidentified_;  // images about which this machine knows nothing
};

std::vector<Frame> Symbolising::name(Frame frame, const Module& module) {
  if (frame.inline_depth != 0) return {std::move(frame)};
  ++native_.all;
  native_.before += is_named(frame);
  std::vector<Frame> frames =
      symbolised_further(std::move(frame), module, symbols_.symboliser());
  native_.after += is_named(frames.back());
  inlined_ += frames.size() - 1;
  if (!is_named(frames.back()) && !module.code_view &&
      symbols_.symboliser().file_of(loaded_image(module)) == nullptr) {
    unidentified_.insert(module.path);
  }
  return frames;
}

void Symbolising::add_missing_line(Frame& frame, const Assembly& assembly) {
  if (frame.inline_depth != 0) return;
  ++managed_.all;
  managed_.before += frame.line != 0;
  if (frame.line == 0) add_line(frame, assembly, symbols_.lines());
  managed_.after += frame.line != 0;
}

// Several records are passed to the collector together, since each call costs time in proportion to the number of
// threads, and a chunk may be very small.
std::optional<Failure> Symbolising::take(const RecordFile& in, layout::File kind,
                                         RecordingWriter& writer) {
  const bool is_header = kind == layout::File::header;
  if (is_header || kind == layout::File::chunk || kind == layout::File::footer) {
    batch_ += in.bytes();
  }
  return is_header || batch_.size() >= kBatchBytes ? flush(in, is_header, writer) : std::nullopt;
}

std::optional<Failure> Symbolising::flush(const RecordFile& in, bool is_header,
                                          RecordingWriter& writer) {
  const std::string_view why = collector_.add(batch_, is_header);
  if (!why.empty()) {
    return unreadable(is_header ? nonsense(layout::File::header, 0, why)
                                : fmt::format("{} makes no sense: {}",
                                              in.chunks() < 2 ? std::string("its first chunk")
                                                              : fmt::format("one of its first {} chunks", in.chunks()),
                                              why));
  }
  batch_.clear();
  Recording& recording = collector_.recording();
  // The names decide. A recording of an earlier mixwalk has no standings, and its readers find them.
  const bool has_standings = std::ranges::any_of(
      recording.samples, [](const Recording::Sample& sample) { return sample.standing != Standing::unknown; });
  if (has_standings) standings_.mark(recording, 0);
  const bool written = is_header ? writer.begin(recording) : writer.append(recording);
  if (!written) return unwritable_output(command_.output, std::string(writer.problem()));
  recording.samples.clear();
  writer.samples_cleared();
  return std::nullopt;
}

ExitCode Symbolising::run() {
  say_missing_folders(command_.symbols);
  using Kind = RecordSequence::Next::Kind;
  RecordFile in(command_.input);
  RecordSequence::Next next = in.next();
  if (next.kind == Kind::refused) {
    std::string why = kind_refusal("symbolise", file_kind(in.rest()));
    if (why.empty()) {
      why = in.rest().starts_with(layout::kMagic) ? next.why : other_file_refusal("symbolise", in.rest());
    }
    return print_failure(unreadable(why));
  }
  if (next.kind == Kind::more) return print_failure(unreadable(in.error()));
  if (would_empty(command_.output, command_.input)) {
    return print_failure(
        unwritable_output(command_.output, "that would empty the recording that is read; name another file"));
  }
  PartialFile out(command_.output);
  if (!out.error().empty()) return print_failure(unwritable_output(command_.output, out.error()));
  RecordingWriter writer(out);
  std::optional<Failure> failure;
  for (; next.kind == Kind::record && !failure; next = in.next()) {
    failure = take(in, next.record.kind, writer);
  }
  if (!failure && next.kind == Kind::refused) failure = unreadable(next.why);
  if (!failure) failure = flush(in, false, writer);
  const std::string cut = failure ? "" : sentence(in.cut());
  if (!failure && !in.error().empty()) failure = unreadable(in.error());
  if (!failure && !writer.end(collector_.recording())) {
    failure = unwritable_output(command_.output, std::string(writer.problem()));
  }
  if (failure) return print_failure(out.error().empty() ? *failure : unwritable_output(command_.output, out.error()));
  if (!cut.empty()) {
    if (const auto refusal = would_replace_cut(command_.output, command_.input)) return print_failure(*refusal);
  }
  in.close();  // this may be the file that is replaced
  const bool replaces = out.replaces();
  if (const std::string why = out.commit(); !why.empty()) return print_failure(unwritable_output(command_.output, why));
  if (!cut.empty()) print_failure({ExitCode::ok, input_words(command_.input) + ": " + cut});
  say_what_was_done(replaces);
  return say_what_is_missing();
}

void Symbolising::say_what_was_done(bool replaces) const {
  print_failure({ExitCode::ok,
                 fmt::format("{}: native frames in images with a name: {} of {} before, {} now; managed frames with a "
                             "line: {} of {} before, {} now; inlined calls added: {}",
                             written_words(command_.output, replaces), native_.before, native_.all, native_.after,
                             managed_.before, managed_.all, managed_.after, inlined_)});
}

ExitCode Symbolising::say_what_is_missing() {
  say_symbol_problems(symbols_.problems());
  if (!unidentified_.empty()) {
    print_failure({ExitCode::ok,
                   fmt::format("the files of {} were not found, and the recording does not say which PDBs they have; "
                               "the first is {}",
                               count_words(unidentified_.size(), "image"), quoted_path(*unidentified_.begin()))});
  }
  const std::vector<MissingPdb> missing = symbols_.missing();
  symbols_.loader().say({});
  if (missing.empty()) return ExitCode::ok;
  print_failure(
      {ExitCode::ok, not_found_words(missing) + "; standard output has the list in the form that symchk /im reads" +
                         symbols_.loader().advice()});
  return print(manifest_text(missing));
}

}  // namespace

ExitCode run(const SymboliseCommand& command) {
  return Symbolising(command).run();
}

}  // namespace mixwalk
