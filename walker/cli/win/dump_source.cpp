#include "walker/cli/win/dump_source.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "walker/cli/win/dump_outside.h"
#include "walker/cli/win/visit.h"
#include "walker/session/win/patched_calls_of.h"

namespace mixwalk {

DumpSource::DumpSource(const DumpCommand& command) : command_(command) {}

Outcome<Snapshot> DumpSource::inside(const Visit& how, bool last) {
  OutsideLocks locks(command_);
  if (!session_) {
    auto session = visit(how);
    if (!session) return session.failure();
    session->set_timeout(command_.visit.timeout_ms);
    session_.emplace(std::move(*session));
  }
  DumpRequest request = sampling_request(command_.visit.sampling);
  // The request has only ids. If names are given, all threads are dumped, and those with the names are kept.
  if (!command_.visit.sampling.threads.names.empty()) request.thread_ids.clear();
  if (auto failure = session_->greet()) {
    session_.reset();
    return std::move(*failure);
  }
  watch_freezes_of(*session_, request.deadline_ms);
  auto snapshot = session_->dump(request);
  if (const auto patched = session_->patched_calls(); !patched.empty()) {
    spdlog::info("{}; {} threads were resumed from here", patched_calls_text(patched), session_->given_back());
  }
  if (!snapshot) {
    session_.reset();
    return snapshot;
  }
  // mixwalk.dll leaves the target before names are looked up and anything is written. A pager may keep the output
  // waiting, and the target must not wait for the pager.
  if (last) leave();
  locks.add_to(*snapshot);
  if (last) session_.reset();
  return snapshot;
}

// While a thread is frozen from inside, patched system calls may make every thread of mixwalk.dll wait for it. From
// outside nothing can. Returns nothing if no call is patched, or if managed frames would be missing.
std::optional<Snapshot> DumpSource::outside_patches() {
  if (std::holds_alternative<ByStart>(command_.visit.target)) return std::nullopt;
  const auto id = process_of(command_.visit.target);
  if (!id) return std::nullopt;
  const auto patched = patched_calls_of(*id);
  if (!patched) spdlog::info(patched.failure().message);
  if (!patched || patched->empty()) return std::nullopt;
  const std::string reason = patched_calls_text(*patched);
  spdlog::info("{}; looking from outside", reason);
  auto outside = dump_outside(command_);
  if (!outside || !outside->unasked.empty()) return std::nullopt;
  way_reason_ = reason;
  return std::move(*outside);
}

Outcome<Snapshot> DumpSource::first(bool last) {
  if (command_.way == DumpWay::automatic) {
    if (auto found = outside_patches()) {
      command_.way = DumpWay::outside;
      return std::move(*found);
    }
  }
  if (command_.way == DumpWay::outside) return dump_outside(command_);
  if (command_.way == DumpWay::inside) return inside(command_.visit, last);
  Visit quick = command_.visit;
  quick.timeout_ms = std::min(quick.timeout_ms, kAnswerMs);
  auto found = inside(quick, last);
  if (found) command_.way = DumpWay::inside;
  if (found || !may_go_outside(found.failure())) return found;
  spdlog::info("{}; looking from outside", found.failure().message);
  auto outside = dump_outside(command_);
  // The first reason is more useful, since the user can do something about it.
  if (!outside) return found.failure();
  command_.way = DumpWay::outside;
  way_reason_ = found.failure().message;
  return outside;
}

Outcome<Snapshot> DumpSource::next(bool last) {
  auto snapshot = !taken_                            ? first(last)
                  : command_.way == DumpWay::outside ? dump_outside(command_)
                                                     : inside(command_.visit, last);
  if (!snapshot) return snapshot;
  if (!taken_ && !std::holds_alternative<ByStart>(command_.visit.target)) {
    // When the next dump is taken, another process may have the name.
    command_.visit.target = ById{snapshot->process.id};
  }
  taken_ = true;
  snapshot->way_reason = way_reason_;
  return snapshot;
}

void DumpSource::leave() {
  if (!session_) return;
  if (const std::string problem = session_->leave(); !problem.empty()) spdlog::info(problem);
}

}  // namespace mixwalk
