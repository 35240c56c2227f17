#include "walker/export/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "symbols/demangle/managed_name.h"
#include "unmanaged/hex.h"
#include "walker/base/file_time.h"
#include "walker/hang/crash_place.h"
#include "walker/hang/finding_words.h"
#include "walker/hang/frame_names.h"
#include "walker/hang/standings.h"
#include "walker/hang/thread_roles.h"
#include "walker/hang/waits.h"
#include "walker/model/counters.h"
#include "walker/model/crash_words.h"
#include "walker/shown/async_frames.h"
#include "walker/shown/frame_label.h"
#include "walker/shown/frame_selection.h"
#include "walker/shown/image_id.h"
#include "walker/shown/words.h"

namespace mixwalk {
namespace {

using Json = nlohmann::ordered_json;

constexpr EnumTexts<AsyncFrame::Relation::cut> kRelations{"awaits", "awaited-by", "cut"};

// 64-bit numbers are written as text (hex()), because JavaScript's numbers lose their last bits.
Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }
Json index_or_null(std::int32_t index) { return index == Frame::kNone ? Json(nullptr) : Json(index); }

Json module_json(const Module& module) {
  Json json = {{"base", hex(module.base)},
               {"size", module.size},
               {"timestamp", hex(module.timestamp)},
               {"name", module_name(module)},
               {"path", module.path}};
  if (!module.code_view) return json;
  if (const std::string id = build_id(*module.code_view); !id.empty()) {
    json["build_id"] = id;
  } else {
    json["pdb"] = module.code_view->path;
    json["pdb_id"] = debug_id(module);
  }
  return json;
}

Json frame_json(const Snapshot& snapshot, const StackFrame& frame, std::int32_t run) {
  Json json = {{"kind", enum_name(frame.kind)}};
  json["run"] = index_or_null(run);
  json["label"] = frame_label(snapshot, frame);
  if (frame.kind == FrameKind::gap) return json;
  json["trust"] = enum_name(frame.trust);
  json["address"] = hex(frame.address);
  json["return_address"] = frame.address_kind == AddressKind::return_address;
  json["stack_pointer"] = hex(frame.stack_pointer);
  json["module"] = index_or_null(frame.module);
  if (frame.module == Frame::kNone) {
    json["module_name"] = nullptr;
    json["rva"] = nullptr;
  } else {
    const Module& module = snapshot.modules[static_cast<std::size_t>(frame.module)];
    json["module_name"] = module_name(module);
    json["rva"] = hex(frame.address - module.base);
  }
  json["name"] = or_null(frame.name);
  if (frame.kind == FrameKind::managed && !frame.name.empty()) {
    json["display"] = managed_name(frame.name);
  }
  if (frame.kind == FrameKind::native && !frame.name.empty()) {
    if (frame.symbol != SymbolKind::none) json["symbol"] = enum_name(frame.symbol);
    const bool start_known = frame.symbol != SymbolKind::import || frame.displacement != 0;
    if (start_known) json["displacement"] = frame.displacement;
  }
  if (!frame.target.empty()) json["target"] = frame.target;
  if (frame.call != CallCheck::unchecked) json["call"] = enum_name(frame.call);
  if (frame.inline_depth != 0) json["inline_depth"] = frame.inline_depth;
  if (frame.folded > 1) json["folded"] = frame.folded;
  if (!frame.file.empty()) json["file"] = frame.file;
  if (frame.line != 0) json["line"] = frame.line;
  if (!frame.source_url.empty()) json["source_url"] = frame.source_url;
  if (frame.line_approximate) json["line_approximate"] = true;
  if (frame.function != 0) json["function_id"] = hex(frame.function);
  return json;
}

Json run_json(const Run& run, std::size_t guessed_frames) {
  Json json = {{"position", enum_name(run.position)}, {"end", enum_name(run.end)}};
  json["why"] = run.end == RunEnd::open ? Json(enum_name(run.why)) : Json(nullptr);
  json["first_frame"] = run.first_frame;
  json["frame_count"] = run.frame_count;
  if (guessed_frames != 0) json["guessed_frames"] = guessed_frames;
  return json;
}

constexpr std::uint64_t kMaxTicks = ~0ull / kNsOfTick;

// No thread has a time before 1970.
std::uint64_t unix_ms(std::uint64_t file_time) {
  return (std::max(file_time, kTicksUntil1970) - kTicksUntil1970) / kTicksOfMs;
}

// The task of an index. Nothing for none.
void put_task(Json& json, const char* name, std::uint32_t task) {
  if (task != AsyncTask::kNone) json[name] = task;
}

Json async_frames_json(const std::vector<AsyncFrame>& frames) {
  Json json = Json::array();
  for (const AsyncFrame& frame : frames) {
    Json& line = json.emplace_back(Json{{"relation", kRelations.of(frame.relation)}});
    put_task(line, "task", frame.task);
    if (frame.depth != 0) line["depth"] = frame.depth;
    if (frame.count != 1) line["count"] = frame.count;
    line["label"] = frame.label;
    if (!frame.state.empty()) line["state"] = frame.state;
  }
  return json;
}

Json task_json(const AsyncTask& task) {
  Json json = {{"address", hex(task.address)}, {"kind", enum_name(task.kind)}, {"status", enum_name(task.status)}};
  if (!task.type.empty()) json["type"] = task.type;
  if (!task.method.empty()) {
    json["method"] = task.method;
    json["display"] = managed_name(task.method);
  }
  if (task.await_number >= 0) json["await_number"] = task.await_number;
  if (!task.file.empty()) json["file"] = task.file;
  if (task.line != 0) json["line"] = task.line;
  if (!task.source_url.empty()) json["source_url"] = task.source_url;
  if (!task.awaits.empty()) json["awaits"] = task.awaits;
  if (task.awaits_left_out != 0) json["awaits_left_out"] = task.awaits_left_out;
  if (task.object != 0) json["object"] = hex(task.object);
  if (!task.object_type.empty()) json["object_type"] = task.object_type;
  if (task.thread != 0) json["os_id"] = task.thread;
  put_task(json, "continues_on", task.continues_on);
  if (task.not_resumed) json["not_resumed"] = true;
  if (task.due_ms >= 0) json["due_ms"] = task.due_ms;
  return json;
}

Json pool_json(const ThreadPoolState& pool) {
  Json json = Json::object();
  const auto put = [&](const char* name, std::int64_t number) {
    if (number >= 0) json[name] = number;
  };
  put("queued", pool.queued);
  put("workers", pool.workers);
  put("working", pool.working);
  put("goal", pool.goal);
  put("min", pool.min);
  put("max", pool.max);
  if (pool.items.empty()) return json;
  json["items"] = Json::array();
  for (const ThreadPoolState::Item& item : pool.items) {
    Json& to = json["items"].emplace_back(Json{{"method", or_null(item.method)}, {"count", item.count}});
    put_task(to, "task", item.task);
  }
  return json;
}

// The fields about asynchronous work. A dump that knows none has no such field.
void put_async_work(Json& json, const Snapshot& snapshot, const AsyncFrames& frames) {
  if (!snapshot.tasks_missing.empty()) json["tasks_missing"] = snapshot.tasks_missing;
  if (snapshot.pool != ThreadPoolState()) json["thread_pool"] = pool_json(snapshot.pool);
  for (const AsyncContext& context : snapshot.contexts) {
    Json& to = json["contexts"].emplace_back(Json{{"address", hex(context.address)}, {"type", or_null(context.type)}});
    to["os_id"] = context.thread == 0 ? Json(nullptr) : Json(context.thread);
  }
  for (const AsyncTask& task : snapshot.tasks) json["tasks"].push_back(task_json(task));
  for (const TaskGroup& group : frames.groups()) {
    Json& to = json["task_groups"].emplace_back(Json{{"count", group.count}});
    to["async_frames"] = async_frames_json(frames.of(group.first));
  }
}

Json objects_json(const std::vector<CrashObject>& objects) {
  Json json = Json::array();
  for (const CrashObject& object : objects) {
    json.push_back({{"type", object.type},
                    {"message", or_null(object.message)},
                    {"hresult", object.hresult == 0 ? Json(nullptr) : Json(hex(object.hresult))},
                    {"trace", object.trace}});
  }
  return json;
}

Json wait_json(const FrameNames& names, const Thread& thread) {
  const Wait wait = wait_of(names, thread);
  if (wait.rule.empty()) return nullptr;
  return {{"state", enum_name(wait.state)},
          {"rule", wait.rule},
          {"words", wait.words},
          {"frame", wait.frame == kNoFrame ? Json(nullptr) : Json(wait.frame)},
          {"program_frame", wait.program == kNoFrame ? Json(nullptr) : Json(wait.program)}};
}

std::vector<std::string_view> trait_names(const ThreadTraits& traits) {
  std::vector<std::string_view> names;
  if (traits.main) names.push_back("main");
  if (traits.pool) names.push_back("pool");
  if (traits.sta) names.push_back("sta");
  if (traits.mta) names.push_back("mta");
  if (traits.pumps) names.push_back("pumps");
  if (traits.limited) names.push_back("limited");
  if (traits.unlimited) names.push_back("unlimited");
  return names;
}

Json thread_json(const FrameNames& names, const AsyncFrames& async_frames, const Thread& thread, ThreadRoles roles,
                 const FrameFilter& filter) {
  const Stack& stack = thread.stack;
  Json json = {{"os_id", thread.os_id}, {"os_id_hex", hex(thread.os_id)}};
  json["managed"] = thread.clr_id != 0;
  json["clr_id"] = thread.clr_id == 0 ? Json(nullptr) : Json(hex(thread.clr_id));
  json["name"] = or_null(thread.name);
  json["roles"] = role_names(roles);
  if (const auto traits = trait_names(thread.traits); !traits.empty()) json["traits"] = traits;
  json["created_unix_ms"] = thread.created == 0 ? Json(nullptr) : Json(unix_ms(thread.created));
  json["cpu_ns"] = thread.cpu ? Json(std::min(*thread.cpu, kMaxTicks) * kNsOfTick) : Json(nullptr);
  json["skipped"] = or_null(thread.skipped);
  json["standing"] = enum_name(standing_of(names, thread));
  json["wait"] = wait_json(names, thread);
  put_task(json, "waits_for_task", thread.waits_for_task);
  if (thread.queue_position != 0) json["queue_position"] = thread.queue_position;
  for (const HandledException& exception : thread.handles) {
    json["handles"].push_back({{"objects", objects_json(exception.objects)}});
  }
  json["whole"] = stack.whole();
  if (stack.completeness() == Completeness::guessed) json["guessed"] = true;
  json["engine"] = enum_name(stack.engine);
  json["refusal"] = stack.refusal == 0 ? Json(nullptr) : Json(hex(stack.refusal));
  json["frozen_ns"] = thread.frozen_ns;
  json["stopping_ns"] = thread.stopping_ns;
  json["probe"] = thread.probe == ProbeResult::none ? Json(nullptr) : Json(enum_name(thread.probe));
  json["overdue"] = thread.overdue;
  json["walk_off"] = thread.walk_off;
  json["at_risk"] = thread.at_risk;
  json["copy_cut"] = thread.copy_cut;
  json["moment"] = thread.moment == 0 ? Json(nullptr) : Json(thread.moment);
  json["runs"] = Json::array();
  const std::vector<Run> runs = stack.runs();
  const std::vector<std::int32_t> run_of = stack.run_of_frames(runs);
  std::vector<std::size_t> guessed(runs.size());
  for (std::size_t i = 0; i < run_of.size(); ++i) {
    if (run_of[i] != Frame::kNone) guessed[static_cast<std::size_t>(run_of[i])] += is_guess(stack.frames[i].trust);
  }
  for (std::size_t i = 0; i < runs.size(); ++i) json["runs"].push_back(run_json(runs[i], guessed[i]));
  const FrameSelection selection = select_frames(filter, stack);
  json["frames_left_out"] = stack.frames.size() - selection.frames.size();
  json["frames"] = Json::array();
  for (const std::size_t i : selection.frames) {
    json["frames"].push_back(frame_json(names.snapshot(), stack.frames[i], run_of[i]));
  }
  const std::vector<AsyncFrame> frames = async_frames.of(thread);
  if (!frames.empty()) json["async_frames"] = async_frames_json(frames);
  return json;
}

Json lock_json(const Lock& lock) {
  Json json = {{"kind", enum_name(lock.kind)}, {"address", hex(lock.address)}, {"type", or_null(lock.type)}};
  json["held"] = lock.held;
  json["owner"] = lock.owner == 0 ? Json(nullptr) : Json(lock.owner);
  json["recursion"] = lock.recursion == 0 ? Json(nullptr) : Json(lock.recursion);
  json["waiters"] = Json::array();
  for (const LockWaiter& waiter : lock.waiters) {
    json["waiters"].push_back({{"os_id", waiter.os_id}, {"pulse", waiter.pulse}});
  }
  if (!lock.sharers.empty()) json["sharers"] = lock.sharers;
  if (!lock.task_holders.empty()) json["task_holders"] = lock.task_holders;
  return json;
}

Json crash_json(const Snapshot& snapshot) {
  if (!snapshot.crash) return nullptr;
  const Crash& crash = *snapshot.crash;
  Json json = {{"os_id", crash.thread}, {"code", hex(crash.code)}, {"words", crash_words(crash)}};
  json["address"] = hex(crash.address);
  const bool touched = crash.access != CrashAccess::none;
  json["access"] = touched ? Json(enum_name(crash.access)) : Json(nullptr);
  json["touched"] = touched ? Json(hex(crash.touched)) : Json(nullptr);
  json["detail"] = crash.detail == 0 ? Json(nullptr) : Json(hex(crash.detail));
  json["text"] = or_null(crash.text);
  json["frame"] = nullptr;
  json["program_frame"] = nullptr;
  const FrameNames names(snapshot);
  const CrashPlace place = crash_place(names);
  if (place.frame != kNoFrame) json["frame"] = place.frame;
  if (place.program != kNoFrame) json["program_frame"] = place.program;
  json["objects"] = objects_json(crash.objects);
  return json;
}

Json percentiles_json(const Percentiles& of) {
  return {{"p50", of.p50_ns}, {"p99", of.p99_ns}, {"max", of.max_ns}};
}

Json counters_json(const Counters& counters) {
  Json json = {{"samples", counters.samples}, {"skipped", counters.skipped},
               {"whole", counters.whole}, {"guessed", counters.guessed}};
  json["frozen_ns"] = percentiles_json(counters.frozen);
  json["stopping_ns"] = percentiles_json(counters.stopping);
  json["fallbacks"] = counters.fallbacks;
  json["not_asked"] = counters.not_asked;
  json["refusals"] = Json::object();
  for (const auto& [hresult, times] : counters.refusals) json["refusals"][hex(hresult)] = times;
  json["probes"] = {{"run", counters.probes_run}, {"failed", counters.probes_failed}};
  json["interventions"] = counters.interventions;
  json["breaker"] = {{"threads_off", counters.breaker.threads_off},
                     {"process_off", counters.breaker.process_off}};
  json["copies_cut"] = counters.copies_cut;
  json["runs"] = {{"closed", counters.runs_closed},
                  {"root", counters.runs_root},
                  {"open", counters.runs_open}};
  json["open_by_reason"] = Json::object();
  for (std::size_t i = 0; i < kOpenReasons; ++i) {
    if (counters.open_by_reason[i] == 0) continue;
    json["open_by_reason"][std::string(enum_name(static_cast<OpenReason>(i)))] =
        counters.open_by_reason[i];
  }
  json["calls"] = Json::object();
  for (const CallCheck call :
       {CallCheck::verified, CallCheck::possible, CallCheck::no_call, CallCheck::elsewhere}) {
    json["calls"][std::string(enum_name(call))] = counters.calls[static_cast<std::size_t>(call)];
  }
  // The number is for people, so more digits are not needed.
  json["calls"]["verified_share"] = std::round(counters.calls_verified() * 1000) / 1000;
  return json;
}

// The document, whose threads are still to come: an empty array at its end.
Json document_without_threads(const Snapshot& snapshot, const AsyncFrames& async_frames, const FrameFilter& filter) {
  const Runtime& runtime = snapshot.runtime;
  Json json = {{"format", "mixwalk-dump"}, {"version", kJsonDumpVersion}};
  json["tool"] = "mixwalk " + snapshot.tool_version;
  json["crash"] = crash_json(snapshot);
  json["unix_time_ms"] = snapshot.unix_time_ms;
  json["engine"] = enum_name(snapshot.engine);
  json["way"] = enum_name(snapshot.capture);
  json["way_reason"] = or_null(snapshot.capture_reason);
  json["unasked"] = or_null(snapshot.unasked);
  json["filter"] = {{"managed_only", filter.managed_only},
                    {"depth", filter.depth ? Json(*filter.depth) : Json(nullptr)},
                    {"some_threads", snapshot.omissions.threads}};
  json["process"] = {{"id", snapshot.process.id},
                     {"path", snapshot.process.path},
                     {"command_line", or_null(snapshot.process.command_line)},
                     {"host", or_null(snapshot.process.host)}};
  json["runtime"] = {{"name", runtime.name},
                     {"version", fmt::format("{}.{}.{}.{}", runtime.major, runtime.minor,
                                             runtime.build, runtime.revision)}};
  const RuntimeAnswers& answers = snapshot.answers;
  json["runtime"]["source"] = answers.by == RuntimeSource::automatic ? Json(nullptr) : Json(enum_name(answers.by));
  json["runtime"]["source_reason"] = or_null(answers.why);
  json["counters"] = counters_json(count(snapshot));
  json["moments"] = Json::array();
  for (const Moment& moment : snapshot.moments) {
    json["moments"].push_back({{"stood_ns", moment.frozen_ns}});
  }
  json["modules"] = Json::array();
  for (const Module& module : snapshot.modules) json["modules"].push_back(module_json(module));
  json["locks_missing"] = or_null(snapshot.locks_missing);
  json["locks"] = Json::array();
  for (const Lock& lock : snapshot.locks) json["locks"].push_back(lock_json(lock));
  put_async_work(json, snapshot, async_frames);
  json["threads"] = Json::array();
  return json;
}

// Names come from the target, so bytes that are not UTF-8 become U+FFFD instead of an exception. The text is pure
// ASCII, so nothing in it moves a terminal's cursor, and a shell that recodes redirected output cannot damage it.
std::string text_of(const Json& json) {
  constexpr bool kAscii = true;
  return json.dump(1, ' ', kAscii, Json::error_handler_t::replace);
}

}  // namespace

bool write_json(const Snapshot& snapshot, const FrameFilter& filter, ByteSink& sink) {
  const AsyncFrames async_frames(snapshot);
  const FrameNames names(snapshot);
  const std::vector<ThreadRoles> roles = thread_roles(snapshot);
  std::string text = text_of(document_without_threads(snapshot, async_frames, filter));
  text.resize(text.size() - std::string_view("]\n}").size());
  // Each thread is written by itself, since the values of all of them take far more memory than the snapshot.
  const char* before = "\n  ";
  for (std::size_t i = 0; i < roles.size(); ++i) {
    text += before;
    before = ",\n  ";
    for (const char c : text_of(thread_json(names, async_frames, snapshot.threads[i], roles[i], filter))) {
      text += c;
      if (c == '\n') text += "  ";  // no text in JSON has a line break
    }
    if (!sink.write(text)) return false;
    text.clear();
  }
  return sink.write(text + (roles.empty() ? "]\n}\n" : "\n ]\n}\n"));
}

}  // namespace mixwalk
