#include "walker/outside/win/target_clr.h"

#include "unmanaged/win/module_path.h"
#include "walker/outside/dac_identity.h"
#include "walker/outside/win/dac_finder.h"
#include "walker/outside/win/dac_signature.h"

namespace mixwalk {

TargetClr open_clr(const Target& target, const ClrSource& source, DacSettings settings) {
  const Module* const runtime = runtime_image(target.modules(), target.memory());
  if (runtime == nullptr) return {};
  const auto identity = read_runtime_identity(target.memory(), runtime->base);
  if (!identity) return {.questions = nullptr, .obstacle = "the runtime does not say which debugging library fits"};
  settings.installed = installed_runtimes();
  DiskImageFiles disk;
  LocalImageFiles local(disk);
  // What the user names may lie anywhere.
  ImageFiles& files = settings.dac.empty() ? static_cast<ImageFiles&>(local) : disk;
  WindowsSignatures signatures;
  const auto dac = find_dac(runtime->path, *identity, settings, files, signatures);
  if (!dac) return {.questions = nullptr, .obstacle = dac.failure().message};
  auto questions = std::make_unique<WorkerQuestions>(WorkerQuestions::Settings{.program = module_path(nullptr),
                                                                               .dac_path = *dac,
                                                                               .runtime_base = runtime->base,
                                                                               .process = source.process,
                                                                               .dump_path = source.dump_path,
                                                                               .symbol_path = source.symbol_path});
  return {.questions = std::move(questions), .obstacle = {}};
}

}  // namespace mixwalk
