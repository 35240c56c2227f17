#include "tests/walker/outside/win/look_outside.h"

#include <windows.h>

#include "unmanaged/win/utf8.h"
#include "walker/outside/clr_jitted_step.h"
#include "walker/outside/dac_search.h"
#include "walker/outside/outside_walk.h"
#include "walker/outside/questioned_code.h"
#include "walker/outside/win/live_target.h"
#include "walker/outside/win/worker_questions.h"

namespace mixwalk {
namespace {

class AnySignature final : public FileSignatures {
 public:
  std::string doubt(const std::string&) override { return {}; }
};

}  // namespace

OutsideLook look_outside(std::uint32_t process_id, const std::string& worker) {
  OutsideLook look;
  ULONGLONG before = GetTickCount64();
  const auto since = [&before] {
    const ULONGLONG begin = before;
    before = GetTickCount64();
    return before - begin;
  };
  auto opened = LiveTarget::open(process_id);
  if (!opened) return {.failure = opened.failure().message};
  LiveTarget& target = **opened;
  look.open_ms = since();
  const Module* runtime = runtime_image(target.modules(), target.memory());
  if (runtime == nullptr) return {.failure = "no runtime"};
  const auto identity = read_runtime_identity(target.memory(), runtime->base);
  if (!identity) return {.failure = "the runtime names no debugging library"};
  DiskImageFiles disk;
  LocalImageFiles files(disk);
  AnySignature signatures;
  const auto dac = find_dac(runtime->path, *identity, {}, files, signatures);
  if (!dac) return {.failure = dac.failure().message};
  look.dac = *dac;
  WorkerQuestions clr({.program = to_utf16(worker),
                       .dac_path = *dac,
                       .runtime_base = runtime->base,
                       .process = target.handle()});
  look.dac_ms = since();
  QuestionedCode managed(clr);
  ClrJittedStep jitted(clr, target.memory());
  look.snapshot = walk_outside(target, {.managed = managed, .jitted = &jitted});
  look.walk_ms = since();
  name_functions(look.snapshot, clr);
  look.names_ms = since();
  look.obstacle = clr.obstacle();
  return look;
}

}  // namespace mixwalk
