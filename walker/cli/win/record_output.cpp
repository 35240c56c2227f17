#include "walker/cli/win/record_output.h"

#include <fmt/format.h>

#include <ctime>
#include <filesystem>
#include <system_error>

#include "unmanaged/win/utf8.h"
#include "walker/base/list_folder.h"
#include "walker/base/partial_file.h"
#include "walker/base/version.h"
#include "walker/cli/options/default_output.h"
#include "walker/cli/output/piece_path.h"
#include "walker/cli/output/print_failure.h"
#include "walker/session/win/processes.h"
#include "walker/shown/recording_filter.h"

namespace mixwalk {

namespace fs = std::filesystem;

namespace {

std::string program_name(const TargetChoice& target) {
  if (const auto* start = std::get_if<ByStart>(&target)) return start->arguments.front();
  if (const auto* name = std::get_if<ByName>(&target)) return name->name;
  return process_name(std::get<ById>(target).id);
}

std::string free_name(const RecordCommand& command) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_s(&local, &now);
  const std::string first =
      default_output(program_name(command.visit.target), local, *command.format);
  std::string name = first;
  std::error_code ignored;
  for (int number = 2; fs::exists(path_of(name), ignored); ++number) {
    name = numbered_output(first, *command.format, number);
  }
  return name;
}

}  // namespace

Outcome<std::unique_ptr<RecordOutput>> RecordOutput::open(const RecordCommand& command,
                                                          const PieceLimits& limits) {
  std::unique_ptr<RecordOutput> output(
      new RecordOutput(command, command.output ? *command.output : free_name(command), limits));
  if (command.format->id == Format::mixwalk) {
    auto file = GrowingFile::open(output->path_);
    if (!file) return file.failure();
    output->replaced_ = (*file)->replaces();
    output->first_ = std::move(*file);
    return output;
  }
  Output& file = output->at_end_.emplace(output->path_);
  if (auto failure = file.failure()) return std::move(*failure);
  output->replaced_ = file.replaces();
  return output;
}

void RecordOutput::begin(RecordingCollector& collector) {
  collector_ = &collector;
  if (!first_) return;
  pieces_.emplace(collector, [this](int piece) { return open_piece(piece); }, kVersion, limits_);
}

std::unique_ptr<ByteSink> RecordOutput::open_piece(int piece) {
  if (piece == 1) {
    set_aside_earlier_pieces();
    piece_ = first_.get();
    return std::move(first_);
  }
  const std::string path = piece_path(first_path_, piece);
  auto file = GrowingFile::open(path);
  if (!file) {
    unopened_ = file.failure();
    return nullptr;
  }
  path_ = path;
  piece_ = file->get();
  ++files_;
  replaced_ += piece_->replaces();
  print_failure({ExitCode::ok, "the recording continues in \"" + path_ + "\""});
  return std::move(*file);
}

// Renames the further files of an earlier recording of this name, because they would look like files of this recording.
// They are not deleted, since they may be all that is left of a long run.
void RecordOutput::set_aside_earlier_pieces() const {
  const fs::path first = path_of(first_path_);
  const fs::path folder = first.has_parent_path() ? first.parent_path() : fs::path(".");
  for (const std::string& name_of_file : list_folder(folder).files) {
    if (!piece_number(first_path_, name_of_file)) continue;
    const fs::path file = folder / path_of(name_of_file);
    fs::path aside = file;
    aside += ".old";
    std::error_code problem;
    for (int n = 2; fs::exists(aside, problem); ++n) {
      aside = file;
      aside += ".old" + std::to_string(n);
    }
    fs::rename(file, aside, problem);
    const std::string name = to_utf8(file.native());
    print_failure({ExitCode::ok, problem
                                     ? fmt::format("\"{}\" exists already, and cannot be renamed: {}. It is no part "
                                                   "of this recording, unless this recording continues in it",
                                                   name, problem.message())
                                     : fmt::format("\"{}\" was of an earlier recording: its name is now \"{}\"", name,
                                                   to_utf8(aside.native()))});
  }
}

// Whether the file keeps the content that it had, since there is nothing to put in its place.
bool RecordOutput::spares_a_file() const { return replaced_ != 0 && !has_samples_; }

std::optional<Failure> RecordOutput::take() {
  has_samples_ = has_samples_ || !collector_->recording().samples.empty();
  if (spares_a_file()) return std::nullopt;
  return pieces_ ? written(pieces_->take()) : std::nullopt;
}

bool RecordOutput::is_full() {
  if (pieces_) return pieces_->is_full();
  const Recording& recording = collector_->recording();
  return limits_.reached_by(recording, recording.samples.size());
}

std::optional<Failure> RecordOutput::cut() {
  auto failure = written(pieces_->cut());
  if (!failure) piece_ = nullptr;
  return failure;
}

std::optional<Failure> RecordOutput::finish() {
  if (unopened_) return unopened_;
  has_samples_ = has_samples_ || !collector_->recording().samples.empty();
  if (spares_a_file()) return std::nullopt;
  if (pieces_) return written(pieces_->end());
  return write_recording(*at_end_, *command_.format, {.filter = command_.filter},
                         filtered(collector_->recording(), command_.filter));
}

// Returns why the pieces were not written, or nothing if all of them were.
std::optional<Failure> RecordOutput::written(bool all) const {
  if (all) return std::nullopt;
  if (unopened_) return unopened_;
  const std::string_view problem = pieces_->problem();
  return unwritable_output(path_, !problem.empty() || piece_ == nullptr ? problem : piece_->error());
}

std::string RecordOutput::said() const {
  if (spares_a_file()) return "there is no sample to write, so \"" + path_ + "\" stays as it was";
  if (at_end_) return {};
  if (files_ == 1) {
    return written_words(path_, replaced_ != 0);
  }
  return fmt::format("wrote {} files, \"{}\" to \"{}\"{}", files_, first_path_, path_,
                     replaced_ != 0 ? ", in place of those that were there" : "");
}

}  // namespace mixwalk
