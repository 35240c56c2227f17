#include "tests/walker/outside/win/look_outside.h"

#include <windows.h>

#include <stdexcept>

#include "unmanaged/minidump/mapped_file.h"
#include "unmanaged/win/utf8.h"
#include "walker/clr/clr_jitted_step.h"
#include "walker/clr/contracts/open_contracts.h"
#include "walker/clr/dac_search.h"
#include "walker/clr/questioned_code.h"
#include "walker/clr/win/worker_questions.h"
#include "walker/outside/outside_walk.h"
#include "walker/outside/target_snapshot.h"
#include "walker/target/dump_target.h"
#include "walker/target/win/live_target.h"

namespace mixwalk {
namespace {

class AnySignature final : public FileSignatures {
 public:
  std::string doubt(const std::string&) override { return {}; }
};

class Clock {
 public:
  unsigned long long since() {
    const ULONGLONG begin = before_;
    before_ = GetTickCount64();
    return before_ - begin;
  }

 private:
  ULONGLONG before_ = GetTickCount64();
};

// Completes the settings with the library. Returns an empty text if it was found, otherwise the reason why it was not.
std::string find_library(Target& target, const std::string& worker, WorkerQuestions::Settings& settings) {
  const Module* runtime = runtime_image(target.modules(), target.memory());
  if (runtime == nullptr) return "no runtime";
  const auto identity = read_runtime_identity(target.memory(), runtime->base);
  if (!identity) return "the runtime names no debugging library";
  DiskImageFiles disk;
  LocalImageFiles files(disk);
  AnySignature signatures;
  const auto dac = find_dac(*runtime, *identity, {}, files, signatures);
  if (!dac) return dac.failure().message;
  settings.program = to_utf16(worker);
  settings.dac_path = *dac;
  settings.runtime_base = runtime->base;
  return {};
}

OutsideLook look_at(Target& target, WorkerQuestions::Settings settings, const std::string& worker) {
  OutsideLook look;
  Clock clock;
  look.failure = find_library(target, worker, settings);
  if (!look.failure.empty()) return look;
  look.dac = settings.dac_path;
  WorkerQuestions clr(settings);
  look.dac_ms = clock.since();
  QuestionedCode managed(clr);
  ClrJittedStep jitted(clr, target.memory());
  look.snapshot = walk_outside(target, {.managed = managed, .jitted = &jitted});
  look.walk_ms = clock.since();
  name_functions(look.snapshot, clr);
  add_il_places(look.snapshot, clr);
  look.names_ms = clock.since();
  look.obstacle = clr.obstacle();
  return look;
}

}  // namespace

OutsideLook look_outside(std::uint32_t process_id, const std::string& worker) {
  Clock clock;
  auto opened = LiveTarget::open(process_id);
  if (!opened) return {.failure = opened.failure().message};
  const unsigned long long open_ms = clock.since();
  OutsideLook look = look_at(**opened, {.process = (*opened)->handle()}, worker);
  look.open_ms = open_ms;
  return look;
}

OutsideLook look_at_dump(const std::string& path, const std::string& worker) {
  const MappedFile file(path);
  if (!file.error().empty()) return {.failure = file.error()};
  const Minidump dump = Minidump::parse(file.bytes());
  DiskImageFiles disk;
  LocalImageFiles local(disk);
  DiskImages images(local, disk, {});
  DumpTarget target(dump, images);
  return look_at(target, {.dump_path = path}, worker);
}

Snapshot dump_by_contracts(const std::string& path) {
  const MappedFile file(path);
  const Minidump dump = Minidump::parse(file);
  DiskImageFiles disk;
  LocalImageFiles local(disk);
  DiskImages images(local, disk, {});
  DumpTarget target(dump, images);
  const OpenedClr contracts = open_contracts(target, RuntimeSource::contracts);
  if (contracts.questions == nullptr) throw std::runtime_error(file.error() + contracts.obstacle);
  return target_snapshot(target, contracts.questions.get(), {}, {});
}

OutsideSession::OutsideSession(std::uint32_t process_id, const std::string& worker, RuntimeSource source) {
  auto opened = LiveTarget::open(process_id);
  if (!opened) throw std::runtime_error(opened.failure().message);
  target_ = std::move(*opened);
  OpenedClr contracts = open_contracts(*target_, source);
  clr_ = std::move(contracts.questions);
  if (clr_ != nullptr) return;
  if (source == RuntimeSource::contracts) throw std::runtime_error(contracts.obstacle);
  WorkerQuestions::Settings settings{.process = target_->handle()};
  const std::string problem = find_library(*target_, worker, settings);
  if (!problem.empty()) throw std::runtime_error(problem);
  clr_ = std::make_unique<WorkerQuestions>(settings);
}

OutsideSession::~OutsideSession() = default;

Snapshot OutsideSession::dump(std::uint32_t at_once_ms) {
  target_->refresh();
  clr_->target_ran();
  clr_->note_calls();
  if (at_once_ms != 0) target_->freeze_together({}, at_once_ms);
  Snapshot snapshot = target_snapshot(*target_, clr_.get(), {}, {});
  target_->add_moments(snapshot);
  return snapshot;
}

}  // namespace mixwalk
