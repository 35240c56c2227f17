#include "walker/export/json_reader.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "symbols/web_url.h"
#include "walker/base/file_time.h"
#include "walker/export/json.h"
#include "walker/shown/words.h"
#include "walker/store/layout.h"

namespace mixwalk {
namespace {

using Json = nlohmann::json;

// The limit for nesting. A dump nests 6 levels, and more levels would only serve to exhaust the stack.
constexpr std::size_t kMaxNesting = 32;

// Whether values are nested more deeply than that. It counts brackets outside strings, even in a text that is not JSON.
bool nests_too_deep(std::string_view text) {
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxNesting) return true;
    } else if ((c == '}' || c == ']') && depth != 0) {
      --depth;
    }
  }
  return false;
}

// The reason why a text is not a valid document. It is thrown through the reader and caught at its end.
struct Nonsense {
  std::string why;
};

const Json* member(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

[[noreturn]] void refuse(const char* name, const char* wanted) {
  throw Nonsense{std::string("\"") + name + "\" is no " + wanted};
}

std::string text_of(const Json& object, const char* name) {
  const Json* const value = member(object, name);
  if (value == nullptr) return {};
  if (!value->is_string()) refuse(name, "text");
  return value->get<std::string>();
}

bool flag_of(const Json& object, const char* name) {
  const Json* const value = member(object, name);
  if (value == nullptr) return false;
  if (!value->is_boolean()) refuse(name, "boolean");
  return value->get<bool>();
}

template <class Number>
Number number_of(const Json& object, const char* name, Number otherwise = 0) {
  const Json* const value = member(object, name);
  if (value == nullptr) return otherwise;
  if (!value->is_number_unsigned() || !std::in_range<Number>(value->get<std::uint64_t>())) {
    refuse(name, "number that it can be");
  }
  return static_cast<Number>(value->get<std::uint64_t>());
}

std::uint64_t hex_of(const Json& object, const char* name) {
  const Json* const value = member(object, name);
  if (value == nullptr) return 0;
  if (!value->is_string()) refuse(name, "hexadecimal number");
  const auto& text = value->get_ref<const std::string&>();
  std::uint64_t number = 0;
  const char* const last = text.data() + text.size();
  if (!text.starts_with("0x")) refuse(name, "hexadecimal number");
  const auto [end, error] = std::from_chars(text.data() + 2, last, number, 16);
  if (error != std::errc{} || end != last) refuse(name, "hexadecimal number");
  return number;
}

// The array, or an empty one if there is none.
const Json& array_of(const Json& object, const char* name) {
  static const Json kEmpty = Json::array();
  const Json* const value = member(object, name);
  if (value == nullptr) return kEmpty;
  if (!value->is_array()) refuse(name, "array");
  for (const Json& entry : *value) {
    if (!entry.is_object()) refuse(name, "array of objects");
  }
  return *value;
}

// An array of numbers, or nothing if there is none.
std::vector<std::uint32_t> numbers_of(const Json& object, const char* name) {
  std::vector<std::uint32_t> numbers;
  const Json* const value = member(object, name);
  if (value == nullptr) return numbers;
  if (!value->is_array()) refuse(name, "array");
  for (const Json& number : *value) {
    if (!number.is_number_unsigned() || !std::in_range<std::uint32_t>(number.get<std::uint64_t>())) {
      refuse(name, "array of numbers that they can be");
    }
    numbers.push_back(static_cast<std::uint32_t>(number.get<std::uint64_t>()));
  }
  return numbers;
}

const Json& object_of(const Json& object, const char* name) {
  static const Json kEmpty = Json::object();
  const Json* const value = member(object, name);
  if (value == nullptr) return kEmpty;
  if (!value->is_object()) refuse(name, "object");
  return *value;
}

// The enumerator with that name, or the first one if the name is not known.
template <class Enum>
Enum word_of(const Json& object, const char* name) {
  return enumerator_of<Enum>(text_of(object, name)).value_or(Enum{});
}

constexpr const char* kMissingEntry = "index of an entry that is there";

// An index into an array of `count` elements, or -1 for null.
std::int32_t index_of(const Json& object, const char* name, std::size_t count) {
  const Json* const value = member(object, name);
  if (value == nullptr) return Frame::kNone;
  const auto index = number_of<std::int32_t>(object, name);
  if (static_cast<std::size_t>(index) >= count) refuse(name, kMissingEntry);
  return index;
}

// The same for an index of a task or of a context; AsyncTask::kNone if the field is missing.
std::uint32_t task_index_of(const Json& object, const char* name, std::size_t count) {
  const auto index = number_of<std::uint32_t>(object, name, AsyncTask::kNone);
  if (index != AsyncTask::kNone && index >= count) refuse(name, kMissingEntry);
  return index;
}

std::vector<std::uint32_t> task_indices_of(const Json& object, const char* name, std::size_t tasks) {
  std::vector<std::uint32_t> indices = numbers_of(object, name);
  const bool all = std::ranges::all_of(indices, [&](std::uint32_t index) { return index < tasks; });
  if (!all) refuse(name, "array of indices of entries that are there");
  return indices;
}

StackFrame read_frame(const Json& json, const Snapshot& snapshot, const std::vector<Run>& runs) {
  StackFrame frame;
  if (text_of(json, "kind").empty()) throw Nonsense{"a frame has no kind"};
  frame.kind = word_of<FrameKind>(json, "kind");
  const std::int32_t run = index_of(json, "run", runs.size());
  if (frame.kind == FrameKind::gap && run != Frame::kNone) frame.why = runs[static_cast<std::size_t>(run)].why;
  frame.trust = word_of<Trust>(json, "trust");
  frame.address = hex_of(json, "address");
  frame.address_kind = flag_of(json, "return_address") ? AddressKind::return_address : AddressKind::instruction_pointer;
  frame.stack_pointer = hex_of(json, "stack_pointer");
  frame.module = index_of(json, "module", snapshot.modules.size());
  frame.name = text_of(json, "name");
  frame.symbol = word_of<SymbolKind>(json, "symbol");
  frame.displacement = number_of<std::uint64_t>(json, "displacement");
  frame.target = text_of(json, "target");
  frame.call = word_of<CallCheck>(json, "call");
  frame.inline_depth = number_of<std::uint8_t>(json, "inline_depth");
  frame.folded = number_of<std::uint32_t>(json, "folded", 1);
  frame.file = text_of(json, "file");
  frame.line = number_of<std::uint32_t>(json, "line");
  if (std::string url = text_of(json, "source_url"); is_web_url(url)) frame.source_url = std::move(url);
  frame.line_approximate = flag_of(json, "line_approximate");
  frame.function = hex_of(json, "function_id");
  return frame;
}

Stack read_stack(const Json& json, const Snapshot& snapshot) {
  Stack stack;
  stack.engine = word_of<Engine>(json, "engine");
  stack.refusal = static_cast<std::uint32_t>(hex_of(json, "refusal"));
  std::vector<Run> runs;
  for (const Json& from : array_of(json, "runs")) {
    Run& run = runs.emplace_back();
    run.position = word_of<RunPosition>(from, "position");
    run.end = enumerator_of<RunEnd>(text_of(from, "end")).value_or(RunEnd::open);
    run.why = word_of<OpenReason>(from, "why");
    run.first_frame = number_of<std::uint32_t>(from, "first_frame");
    run.frame_count = number_of<std::uint32_t>(from, "frame_count");
  }
  for (const Json& from : array_of(json, "frames")) {
    stack.frames.push_back(read_frame(from, snapshot, runs));
  }
  const bool whole = number_of<std::uint64_t>(json, "frames_left_out") == 0;
  if (!whole) stack.runs_of_whole = std::move(runs);
  return stack;
}

ThreadTraits read_traits(const Json& json) {
  ThreadTraits traits;
  const Json* const value = member(json, "traits");
  if (value == nullptr) return traits;
  if (!value->is_array()) refuse("traits", "array");
  for (const Json& word : *value) {
    traits.main = traits.main || word == "main";
    traits.pool = traits.pool || word == "pool";
    traits.sta = traits.sta || word == "sta";
    traits.mta = traits.mta || word == "mta";
    traits.pumps = traits.pumps || word == "pumps";
    traits.limited = traits.limited || word == "limited";
    traits.unlimited = traits.unlimited || word == "unlimited";
  }
  return traits;
}

// An exception and its inner ones.
std::vector<CrashObject> read_exceptions(const Json& json) {
  std::vector<CrashObject> objects;
  for (const Json& from : json) {
    if (objects.size() == kMaxCrashObjects) break;
    CrashObject& object = objects.emplace_back();
    object.type = text_of(from, "type");
    object.message = text_of(from, "message");
    object.hresult = static_cast<std::uint32_t>(hex_of(from, "hresult"));
    const Json* const trace = member(from, "trace");
    if (trace == nullptr) continue;
    if (!trace->is_array()) refuse("trace", "array");
    for (const Json& frame : *trace) {
      if (!frame.is_string()) refuse("trace", "array of texts");
      if (object.trace.size() < kMaxCrashTrace) object.trace.push_back(frame.get<std::string>());
    }
  }
  return objects;
}

std::vector<HandledException> read_handled(const Json& json) {
  std::vector<HandledException> handled;
  for (const Json& from : array_of(json, "handles")) {
    handled.push_back({read_exceptions(array_of(from, "objects"))});
  }
  return handled;
}

Thread read_thread(const Json& json, const Snapshot& snapshot) {
  Thread thread;
  thread.os_id = number_of<std::uint32_t>(json, "os_id");
  thread.clr_id = hex_of(json, "clr_id");
  thread.name = text_of(json, "name");
  thread.skipped = text_of(json, "skipped");
  thread.frozen_ns = number_of<std::uint64_t>(json, "frozen_ns");
  thread.stopping_ns = number_of<std::uint64_t>(json, "stopping_ns");
  const auto created = number_of<std::uint64_t>(json, "created_unix_ms");
  constexpr std::uint64_t kLastMs = 253'402'300'799'999;
  if (created != 0) thread.created = std::min(created, kLastMs) * kTicksOfMs + kTicksUntil1970;
  if (member(json, "cpu_ns") != nullptr) thread.cpu = number_of<std::uint64_t>(json, "cpu_ns") / kNsOfTick;
  thread.overdue = flag_of(json, "overdue");
  thread.walk_off = flag_of(json, "walk_off");
  thread.at_risk = flag_of(json, "at_risk");
  thread.copy_cut = flag_of(json, "copy_cut");
  thread.moment = number_of<std::uint32_t>(json, "moment");
  if (thread.moment > snapshot.moments.size()) refuse("moment", "moment that is there");
  thread.waits_for_task = task_index_of(json, "waits_for_task", snapshot.tasks.size());
  thread.queue_position = number_of<std::uint64_t>(json, "queue_position");
  thread.traits = read_traits(json);
  thread.handles = read_handled(json);
  thread.stack = read_stack(json, snapshot);
  return thread;
}

Lock read_lock(const Json& json, std::size_t tasks) {
  Lock lock;
  lock.kind = word_of<LockKind>(json, "kind");
  lock.address = hex_of(json, "address");
  lock.type = text_of(json, "type");
  lock.owner = number_of<std::uint32_t>(json, "owner");
  lock.held = flag_of(json, "held");
  lock.recursion = number_of<std::uint32_t>(json, "recursion");
  for (const Json& waiter : array_of(json, "waiters")) {
    lock.waiters.push_back({number_of<std::uint32_t>(waiter, "os_id"), flag_of(waiter, "pulse")});
  }
  lock.sharers = numbers_of(json, "sharers");
  lock.task_holders = task_indices_of(json, "task_holders", tasks);
  return lock;
}

AsyncTask read_task(const Json& json, std::size_t tasks, std::size_t contexts) {
  AsyncTask task;
  task.address = hex_of(json, "address");
  task.kind = word_of<TaskKind>(json, "kind");
  task.status = word_of<TaskStatus>(json, "status");
  task.type = text_of(json, "type");
  task.method = text_of(json, "method");
  task.await_number = number_of<std::int32_t>(json, "await_number", -1);
  task.file = text_of(json, "file");
  task.line = number_of<std::uint32_t>(json, "line");
  if (std::string url = text_of(json, "source_url"); is_web_url(url)) task.source_url = std::move(url);
  task.awaits = task_indices_of(json, "awaits", tasks);
  if (task.awaits.size() > AsyncTask::kMaxAwaits) throw Nonsense{"a task waits for too many tasks"};
  task.awaits_left_out = number_of<std::uint32_t>(json, "awaits_left_out");
  task.object = hex_of(json, "object");
  task.object_type = text_of(json, "object_type");
  task.thread = number_of<std::uint32_t>(json, "os_id");
  task.continues_on = task_index_of(json, "continues_on", contexts);
  task.not_resumed = flag_of(json, "not_resumed");
  task.due_ms = number_of<std::int64_t>(json, "due_ms", -1);
  return task;
}

ThreadPoolState read_pool(const Json& json, std::size_t tasks) {
  ThreadPoolState pool;
  pool.queued = number_of<std::int64_t>(json, "queued", -1);
  pool.workers = number_of<std::int32_t>(json, "workers", -1);
  pool.working = number_of<std::int32_t>(json, "working", -1);
  pool.goal = number_of<std::int32_t>(json, "goal", -1);
  pool.min = number_of<std::int32_t>(json, "min", -1);
  pool.max = number_of<std::int32_t>(json, "max", -1);
  for (const Json& item : array_of(json, "items")) {
    pool.items.push_back({.method = text_of(item, "method"),
                          .count = number_of<std::uint32_t>(item, "count"),
                          .task = task_index_of(item, "task", tasks)});
  }
  return pool;
}

void read_async_work(const Json& json, Snapshot& snapshot) {
  snapshot.tasks_missing = text_of(json, "tasks_missing");
  for (const Json& from : array_of(json, "contexts")) {
    snapshot.contexts.push_back({.address = hex_of(from, "address"),
                                 .type = text_of(from, "type"),
                                 .thread = number_of<std::uint32_t>(from, "os_id")});
  }
  const Json& tasks = array_of(json, "tasks");
  for (const Json& from : tasks) snapshot.tasks.push_back(read_task(from, tasks.size(), snapshot.contexts.size()));
  snapshot.pool = read_pool(object_of(json, "thread_pool"), tasks.size());
}

std::optional<Crash> read_crash(const Json& document) {
  if (member(document, "crash") == nullptr) return std::nullopt;
  const Json& json = object_of(document, "crash");
  Crash crash;
  crash.thread = number_of<std::uint32_t>(json, "os_id");
  crash.code = static_cast<std::uint32_t>(hex_of(json, "code"));
  crash.address = hex_of(json, "address");
  crash.access = word_of<CrashAccess>(json, "access");
  crash.touched = hex_of(json, "touched");
  crash.detail = static_cast<std::uint32_t>(hex_of(json, "detail"));
  crash.text = text_of(json, "text");
  crash.objects = read_exceptions(array_of(json, "objects"));
  return crash;
}

void read_version(const std::string& text, Runtime& runtime) {
  std::uint16_t* const parts[] = {&runtime.major, &runtime.minor, &runtime.build, &runtime.revision};
  const char* at = text.data();
  const char* const last = at + text.size();
  for (std::uint16_t* const part : parts) {
    at = std::from_chars(at, last, *part).ptr;
    if (at != last && *at == '.') ++at;
  }
}

Snapshot read_document(const Json& json) {
  if (!json.is_object() || text_of(json, "format") != "mixwalk-dump") {
    throw Nonsense{"it is JSON, but no dump of mixwalk (dump -f json)"};
  }
  if (const auto version = number_of<std::uint32_t>(json, "version"); version != kJsonDumpVersion) {
    if (version > kJsonDumpVersion) throw Nonsense{layout::kWrittenLater};
    throw Nonsense{"it is of version " + std::to_string(version) + ", which there is not"};
  }
  Snapshot snapshot;
  const std::string tool = text_of(json, "tool");
  snapshot.tool_version = tool.starts_with("mixwalk ") ? tool.substr(8) : tool;
  snapshot.crash = read_crash(json);
  snapshot.unix_time_ms = number_of<std::uint64_t>(json, "unix_time_ms");
  snapshot.engine = word_of<Engine>(json, "engine");
  snapshot.capture = word_of<CaptureMethod>(json, "way");
  snapshot.capture_reason = text_of(json, "way_reason");
  snapshot.unasked = text_of(json, "unasked");
  const Json& filter = object_of(json, "filter");
  snapshot.omissions = {flag_of(filter, "managed_only"), number_of<std::uint32_t>(filter, "depth"),
                        flag_of(filter, "some_threads")};
  const Json& process = object_of(json, "process");
  snapshot.process.id = number_of<std::uint32_t>(process, "id");
  snapshot.process.path = text_of(process, "path");
  snapshot.process.command_line = text_of(process, "command_line");
  snapshot.process.host = text_of(process, "host");
  const Json& runtime = object_of(json, "runtime");
  snapshot.runtime.name = text_of(runtime, "name");
  read_version(text_of(runtime, "version"), snapshot.runtime);
  snapshot.answers = {word_of<RuntimeSource>(runtime, "source"), text_of(runtime, "source_reason")};
  for (const Json& moment : array_of(json, "moments")) {
    snapshot.moments.push_back({number_of<std::uint64_t>(moment, "stood_ns")});
  }
  for (const Json& from : array_of(json, "modules")) {
    Module& module = snapshot.modules.emplace_back();
    module.base = hex_of(from, "base");
    module.size = number_of<std::uint32_t>(from, "size");
    module.timestamp = static_cast<std::uint32_t>(hex_of(from, "timestamp"));
    module.path = text_of(from, "path");
  }
  read_async_work(json, snapshot);
  for (const Json& from : array_of(json, "threads")) snapshot.threads.push_back(read_thread(from, snapshot));
  snapshot.locks_missing = text_of(json, "locks_missing");
  if (member(json, "locks") == nullptr) snapshot.locks_missing = "the dump is of a mixwalk that did not look at locks";
  for (const Json& from : array_of(json, "locks")) {
    snapshot.locks.push_back(read_lock(from, snapshot.tasks.size()));
  }
  return snapshot;
}

}  // namespace

ReadJsonDump read_json_dump(std::string_view text) {
  if (nests_too_deep(text)) return {{}, "it is JSON that nests too deep"};
  constexpr bool kThrows = false;
  const Json json = Json::parse(text, nullptr, kThrows);
  if (json.is_discarded()) return {{}, "it is no JSON, or was cut off"};
  try {
    return {read_document(json), {}};
  } catch (const Nonsense& nonsense) {
    return {{}, nonsense.why};
  }
}

}  // namespace mixwalk
