#include "walker/clr/win/target_clr.h"

#include <utility>

#include "unmanaged/win/module_path.h"
#include "walker/clr/win/dac_finder.h"
#include "walker/clr/win/dac_signature.h"
#include "walker/clr/win/worker_questions.h"
#include "walker/target/dac_identity.h"

namespace mixwalk {

std::optional<Outcome<std::string>> dac_of(const Target& target, DacSettings settings) {
  const Module* const runtime = runtime_image(target.modules(), target.memory());
  if (runtime == nullptr) return std::nullopt;
  const auto identity = read_runtime_identity(target.memory(), runtime->base);
  if (!identity) return Failure{ExitCode::internal, "the runtime does not say which debugging library fits"};
  settings.installed = installed_runtimes();
  DiskImageFiles disk;
  LocalImageFiles local(disk);
  // A file that the user names may be anywhere.
  ImageFiles& files = settings.dac.empty() ? static_cast<ImageFiles&>(local) : disk;
  WindowsSignatures signatures;
  return find_dac(*runtime, *identity, settings, files, signatures);
}

OpenedClr open_clr(const Target& target, const ClrSource& source, DacSettings settings, RuntimeSource wanted) {
  // A library that the user names is the one to ask.
  if (!settings.dac.empty() && wanted == RuntimeSource::automatic) wanted = RuntimeSource::debugging_library;
  OpenedClr opened = open_contracts(target, wanted);
  if (opened.questions != nullptr || wanted == RuntimeSource::contracts) return opened;
  const auto dac = dac_of(target, std::move(settings));
  if (!dac) return {};
  if (!*dac) return {.questions = nullptr, .obstacle = dac->failure().message};
  opened.questions = std::make_unique<WorkerQuestions>(WorkerQuestions::Settings{
      .program = module_path(nullptr),
      .dac_path = **dac,
      .runtime_base = runtime_image(target.modules(), target.memory())->base,
      .process = source.process,
      .dump_path = source.dump_path,
      .symbol_path = source.symbol_path});
  opened.answers = {RuntimeSource::debugging_library, std::exchange(opened.obstacle, {})};
  return opened;
}

}  // namespace mixwalk
