#include "walker/cli/win/dump_outside.h"

#include <spdlog/spdlog.h>

#include "unmanaged/win/utf8.h"
#include "walker/outside/target_snapshot.h"
#include "walker/outside/win/live_target.h"
#include "walker/outside/win/target_clr.h"
#include "walker/session/win/environment.h"
#include "walker/session/win/processes.h"

namespace mixwalk {
namespace {

Outcome<std::uint32_t> process_of(const TargetChoice& choice) {
  if (const auto* id = std::get_if<ById>(&choice)) return id->id;
  return find_process(std::get<ByName>(choice).name);
}

}  // namespace

Outcome<Snapshot> dump_outside(const DumpCommand& command) {
  const auto id = process_of(command.visit.target);
  if (!id) return id.failure();
  auto target = LiveTarget::open(*id);
  if (!target) return target.failure();
  const std::string symbol_path =
      command.visit.symbol_path.value_or(to_utf8(environment_variable(L"_NT_SYMBOL_PATH").value_or(L"")));
  TargetClr clr = open_clr(**target, {.process = (*target)->handle()},
                           {.dac = command.dac, .symbol_path = parse_symbol_path(symbol_path)});
  const ThreadSelection& threads = command.visit.sampling.threads;
  Snapshot snapshot = target_snapshot(**target, clr.questions.get(), clr.obstacle, [&](const TargetThread& thread) {
    return threads.contains(thread.os_id, thread.name);
  });
  snapshot.way = Way::outside;
  if (!snapshot.unasked.empty()) spdlog::info("managed frames: {}", snapshot.unasked);
  return snapshot;
}

bool may_go_outside(const Failure& failure) noexcept {
  switch (failure.code) {
    case ExitCode::already_profiled:
    case ExitCode::not_started:
    case ExitCode::timeout:
    case ExitCode::refused:
    case ExitCode::no_memory: return true;
    default: return false;
  }
}

}  // namespace mixwalk
