#include "walker/clr/tasks/task_reader.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "walker/clr/tasks/delegates.h"
#include "walker/clr/tasks/state_machine_name.h"

namespace mixwalk {
namespace {

// Task.m_stateFlags (Task.cs of .NET 8 to 10, public).
constexpr std::uint32_t kStarted = 0x0001'0000, kFaulted = 0x0020'0000, kCancelled = 0x0040'0000,
                        kWaitsForChildren = 0x0080'0000;
constexpr std::uint8_t kReference = 0x12, kObject = 0x1C, kValue = 0x11;  // ELEMENT_TYPE_*
// Awaiters have values inside values a few deep: ConfiguredValueTaskAwaiter, ValueTask.
constexpr int kMaxAwaiterDepth = 6;
constexpr std::size_t kMaxAwaiterFields = 4096;
// A state machine's <>1__state, if the method has ended. Values from 0 on are the number of an await.
constexpr std::int32_t kEnded = -2;
// From this value down the number of a `yield return` at which the method stands. The caller's await has ended then.
constexpr std::int32_t kFirstYield = -4;

constexpr std::string_view kTask = "System.Threading.Tasks.Task";
constexpr std::string_view kContextContinuation = "System.Threading.Tasks.SynchronizationContextAwaitTaskContinuation",
                           kSchedulerContinuation = "System.Threading.Tasks.TaskSchedulerAwaitTaskContinuation",
                           kContinueWith = "System.Threading.Tasks.ContinueWithTaskContinuation",
                           kPoolScheduler = "System.Threading.Tasks.ThreadPoolTaskScheduler",
                           kList = "System.Collections.Generic.List<System.Object>";

// The name of a type without arguments: "System.Threading.Tasks.Task+WhenAllPromise" for every T of
// "…Task+WhenAllPromise<T>", and for "…AsyncTaskMethodBuilder<T>+AsyncStateMachineBox<M>" it is
// "…AsyncTaskMethodBuilder+AsyncStateMachineBox".
std::string plain_name(std::string_view name) {
  std::string plain;
  int depth = 0;
  for (const char c : name) {
    if (c == '<') ++depth;
    if (depth == 0) plain += c;
    if (c == '>') --depth;
  }
  return plain;
}

// A state machine: where its fields begin, and their type.
struct Machine {
  std::uint64_t at = 0;
  const ManagedType* type = nullptr;
  std::uint64_t method_table = 0;
};

const ClrField* state_field(const ManagedType& type) {
  const ClrField* const field = type.field("<>1__state");
  return field != nullptr ? field : type.field("$State");  // Visual Basic
}

// The machine of a box (AsyncStateMachineBox, or that of a pooled ValueTask), or the object itself if it is a machine.
Machine machine_of(ManagedObjects& objects, std::uint64_t object, const ManagedType& type) {
  if (const ClrField* const field = type.field("StateMachine")) {
    const std::uint64_t at = object + field->offset;
    if (field->element == kValue) return {at, objects.type(field->type), field->type};
    const std::uint64_t machine = objects.memory().read_value<std::uint64_t>(at).value_or(0);
    return {machine, objects.type_of(machine), objects.method_table_of(machine)};
  }
  if (type.task || state_field(type) == nullptr) return {};
  return {object, &type, objects.method_table_of(object)};
}

// The machine of a method with `yield return` is what its caller awaits, and its box is another
// object; 0 if this is no such machine. AsyncIteratorMethodBuilder of .NET 8 to 10 (public).
std::uint64_t box_of_iterator(ManagedObjects& objects, const Machine& machine) {
  const ClrField* const builder = machine.type->field("<>t__builder");
  const ManagedType* const type =
      builder != nullptr && builder->type != 0 ? objects.type(builder->type) : nullptr;
  if (type == nullptr || !type->is("System.Runtime.CompilerServices.AsyncIteratorMethodBuilder"))
    return 0;
  const ClrField* const task = type->field("m_task");
  if (task == nullptr) return 0;
  const auto box =
      objects.memory().read_value<std::uint64_t>(machine.at + builder->offset + task->offset);
  const ManagedType* const of = objects.type_of(box.value_or(0));
  return of != nullptr && of->field("StateMachine") != nullptr ? *box : 0;
}

// The references in an awaiter, those of values inside it included. The nearest first. `left`: so many fields are
// looked at, since a forged type may have many values of its own type.
void references_in(ManagedObjects& objects, std::uint64_t at, const ManagedType& type, int depth, std::size_t& left,
                   std::vector<std::uint64_t>& found) {
  for (const ClrField& field : type.clr.fields) {
    if (found.size() == kMaxAwaits || left == 0) return;
    --left;
    if (field.element == kValue && depth < kMaxAwaiterDepth) {
      const ManagedType* const inner = field.type != 0 ? objects.type(field.type) : nullptr;
      if (inner != nullptr) references_in(objects, at + field.offset, *inner, depth + 1, left, found);
    } else if (field.element == kReference || field.element == kObject) {
      const std::uint64_t object = objects.memory().read_value<std::uint64_t>(at + field.offset).value_or(0);
      if (objects.type_of(object) != nullptr) found.push_back(object);
    }
  }
}

bool has_ended(ManagedObjects& objects, std::uint64_t object) {
  const ManagedType* const type = objects.type_of(object);
  if (type == nullptr || !type->task) return false;
  return (objects.value<std::uint32_t>(object, *type, "m_stateFlags").value_or(0) & kTaskEnded) != 0;
}

// What goes on at an await: the box of the method, and the delegate that calls it (0 if there is
// none).
struct Resumed {
  std::uint64_t box = 0, delegate = 0;
};

bool continues_with(ManagedObjects& objects, std::uint64_t task, const Resumed& resumed) {
  const ManagedType* const type = objects.type_of(task);
  bool found = false;
  if (type == nullptr || !type->task) return false;
  visit_continuations(objects, task, *type, [&](std::uint64_t continuation) {
    found = found || continuation == resumed.box;
    if (found || resumed.delegate == 0) return;
    const ManagedType* const of = objects.type_of(continuation);
    found = continuation == resumed.delegate ||
            (of != nullptr && objects.reference(continuation, *of, "m_action") == resumed.delegate);
  });
  return found;
}

// Folklore: an awaiter of the program may go on with the method when something else happens than
// the end of a task that it has: a time, or the end of one of two tasks. Real cases: awaiters with
// a limit of time, or that keep a task for another purpose. Remedy: a task in such an awaiter
// counts if the method is what follows it. Tests: TaskGraphTest.
void leave_out_unproven(ManagedObjects& objects, const Resumed& resumed,
                        std::vector<std::uint64_t>& found) {
  std::size_t proven = 0;
  std::erase_if(found, [&](std::uint64_t object) {
    if (!objects.type_of(object)->task || has_ended(objects, object)) return false;
    const bool leads_back = continues_with(objects, object, resumed);
    proven += leads_back;
    return !leads_back;
  });
  if (proven < 2) return;
  std::erase_if(found, [&](std::uint64_t object) { return objects.type_of(object)->task; });
}

// What an awaiter in use waits for: a Task among its references, or else the first object; 0 if it
// is not in use.
std::uint64_t awaited_by(ManagedObjects& objects, std::uint64_t at, const ClrField& field,
                         const Resumed& resumed) {
  std::vector<std::uint64_t> found;
  std::size_t left = kMaxAwaiterFields;
  const bool is_value = field.element == kValue;
  const std::uint64_t awaiter =
      is_value ? 0 : objects.memory().read_value<std::uint64_t>(at).value_or(0);
  const ManagedType* const type = is_value ? objects.type(field.type) : objects.type_of(awaiter);
  if (type == nullptr) return 0;
  references_in(objects, is_value ? at : awaiter, *type, 0, left, found);
  if (!type->clr.name.starts_with("System.")) leave_out_unproven(objects, resumed, found);
  if (!is_value) {
    // An awaiter that is an object of the program has the task in a field, or ends by itself.
    std::erase_if(found, [&](std::uint64_t object) { return !objects.type_of(object)->task; });
    found.push_back(awaiter);
  }
  const auto task = std::ranges::find_if(
      found, [&](std::uint64_t object) { return objects.type_of(object)->task; });
  return task != found.end() ? *task : found.empty() ? 0 : found.front();
}

void read_machine(ManagedObjects& objects, std::uint64_t box, const Machine& machine, ReadTask& read) {
  read.task.kind = TaskKind::async_method;
  if (machine.type == nullptr) return;
  read.task.method = method_of_state_machine(machine.type->clr.name);
  const ClrField* const field = state_field(*machine.type);
  const auto state = field != nullptr ? objects.memory().read_value<std::int32_t>(machine.at + field->offset)
                                      : std::nullopt;
  if (!state || has_ended(read.task.status) || *state < 0) return;
  read.task.await_number = *state;
  read.at_await = true;
  read.box = box;
  read.machine = machine.method_table;
  bool yields = false;
  const Resumed resumed{box, read.resumed_by};
  std::vector<std::uint64_t> awaited;
  for (const ClrField& of : machine.type->clr.fields) {
    // C#, and Visual Basic.
    if (!of.name.starts_with("<>u__") && !of.name.starts_with("$A")) continue;
    const std::uint64_t object = awaited_by(objects, machine.at + of.offset, of, resumed);
    if (object != 0) awaited.push_back(object);
    const ManagedType* const type = of.type != 0 ? objects.type(of.type) : nullptr;
    yields = yields ||
             (type != nullptr && type->clr.name == "System.Runtime.CompilerServices.YieldAwaitable+YieldAwaiter");
  }
  // The compiler clears an awaiter when the method goes on. If more than one is in use, the one that leads back counts,
  // or else one that has not ended.
  const auto leads_back = std::ranges::find_if(
      awaited, [&](std::uint64_t task) { return continues_with(objects, task, resumed); });
  const auto open = std::ranges::find_if(awaited, [&](std::uint64_t task) { return !has_ended(objects, task); });
  if (leads_back != awaited.end()) {
    read.awaits = {*leads_back};
  } else if (open != awaited.end()) {
    read.awaits = {*open};
  } else if (!awaited.empty()) {
    read.awaits = {awaited.front()};
  } else if (yields) {
    read.task.status = TaskStatus::queued;
    read.yields = true;
  }
}

// The time that .NET's timers count in milliseconds: that of the system without pauses (QueryUnbiasedInterruptTime),
// from the page that Windows shows to every process. KUSER_SHARED_DATA of the Windows driver kit: InterruptTime at 8,
// the bias at 0x3B0, both in units of 100 ns.
std::optional<std::int64_t> timer_now(const MemoryReader& memory) {
  constexpr std::uint64_t kShared = 0x7FFE'0000, kInterruptTime = 8, kBias = 0x3B0;
  const auto time = memory.read_value<std::uint64_t>(kShared + kInterruptTime);
  const auto bias = memory.read_value<std::uint64_t>(kShared + kBias);
  if (!time || !bias || *time < *bias) return std::nullopt;
  return static_cast<std::int64_t>((*time - *bias) / 10'000);
}

// Milliseconds until a TimerQueueTimer fires; -1 if it is not known, or if it never fires.
std::int64_t due_of_timer(ManagedObjects& objects, std::uint64_t timer) {
  constexpr std::uint32_t kNever = 0xFFFF'FFFF;
  const ManagedType* const type = objects.type_of(timer);
  if (type == nullptr || !type->is("System.Threading.TimerQueueTimer")) return -1;
  const auto begin = objects.value<std::int64_t>(timer, *type, "_startTicks");
  const auto due = objects.value<std::uint32_t>(timer, *type, "_dueTime");
  const auto now = timer_now(objects.memory());
  if (!begin || !due || !now || *due == kNever || *begin < 0 || *begin > *now) return -1;
  return std::max<std::int64_t>(*begin + *due - *now, 0);
}

void add_awaits(ManagedObjects& objects, std::uint64_t list, ReadTask& read) {
  const ManagedObjects::References found = objects.references_of(list, kMaxAwaits);
  for (const std::uint64_t object : found.objects) {
    const ManagedType* const type = objects.type_of(object);
    if (type != nullptr && type->task) {
      read.awaits.push_back(object);
    } else if (type == nullptr) {
      ++read.task.awaits_left_out;  // it cannot be read
    }
  }
  read.task.awaits_left_out += static_cast<std::uint32_t>(found.all - std::min<std::uint64_t>(found.all, kMaxAwaits));
}

void add_await(ManagedObjects& objects, std::uint64_t object, const ManagedType& type, std::string_view field,
               ReadTask& read) {
  if (const std::uint64_t awaited = objects.reference(object, type, field); awaited != 0) {
    read.awaits.push_back(awaited);
  }
}

// Tasks of .NET that other code completes, and what they wait for.
void read_promise(ManagedObjects& objects, std::uint64_t object, const ManagedType& type, ReadTask& read) {
  const std::string name = plain_name(type.clr.name);
  TaskKind& kind = read.task.kind;
  if (type.is("System.Threading.Tasks.Task+DelayPromise")) {
    kind = TaskKind::delay;
    read.task.due_ms = due_of_timer(objects, objects.reference(object, type, "_timer"));
  } else if (name == "System.Threading.SemaphoreSlim+TaskNode") {
    kind = TaskKind::semaphore;
  } else if (name == "System.Threading.Tasks.Task+WhenAllPromise") {
    kind = TaskKind::when_all;
    add_awaits(objects, objects.reference(object, type, "m_tasks"), read);
    read.awaits_unknown = type.field("m_tasks") == nullptr;
  } else if (name == "System.Threading.Tasks.UnwrapPromise") {
    // The end of an outer task, and then of the task that it returns.
    kind = TaskKind::when_all;
    read.awaits_unknown = true;
  } else if (name == "System.Threading.Tasks.Task+TwoTaskWhenAnyPromise") {
    kind = TaskKind::when_any;
    add_await(objects, object, type, "_task1", read);
    add_await(objects, object, type, "_task2", read);
  } else if (name == "System.Threading.Tasks.TaskFactory+CompleteOnInvokePromise") {
    kind = TaskKind::when_any;
    add_awaits(objects, objects.reference(object, type, "_tasks"), read);
  } else if (name == "System.Threading.Tasks.TaskFactory+CompleteOnCountdownPromise") {
    kind = TaskKind::when_all;
    add_awaits(objects, objects.reference(object, type, "_tasks"), read);
  } else if (name == "System.Threading.Tasks.Task+CancellationPromise") {
    // Task.WaitAsync: the end of a task, or of its time.
    add_await(objects, object, type, "_task", read);
    read.task.due_ms = due_of_timer(objects, objects.reference(object, type, "_timer"));
    kind = read.task.due_ms >= 0 ? TaskKind::delay : TaskKind::when_any;
  } else if (name.ends_with("+ValueTaskSourceAsTask")) {
    kind = TaskKind::value_source;
    add_await(objects, object, type, "_source", read);
  } else if (name == kTask) {
    kind = TaskKind::completion_source;
  } else if (name.starts_with("System.IO.") || name.starts_with("System.Net.") ||
             name == "System.Threading.Tasks.TaskFactory+FromAsyncTrimPromise") {
    kind = TaskKind::io;
  }
}

void read_delegate(ManagedObjects& objects, std::uint64_t object, const ManagedType& type, std::uint32_t flags,
                   std::uint64_t action, ReadTask& read) {
  read.task.kind = TaskKind::delegate;
  read.task.method = method_of_delegate(objects, action);
  if (has_ended(read.task.status)) return;
  const std::uint64_t scheduler = objects.reference(object, type, "m_taskScheduler");
  const ManagedType* const of_scheduler = objects.type_of(scheduler);
  if (of_scheduler != nullptr && !of_scheduler->is(kPoolScheduler)) read.scheduler = scheduler;
  // A continuation that was made by ContinueWith has not started before the task ends that it continues.
  const std::uint64_t antecedent = objects.reference(object, type, "m_antecedent");
  if ((flags & kWaitsForChildren) != 0) {
    read.has_children = true;  // its delegate has ended
  } else if ((flags & kTaskBegun) != 0) {
    read.task.status = TaskStatus::running;
  } else if ((flags & kStarted) != 0) {
    read.task.status = TaskStatus::queued;
    if (read.scheduler != 0) {
      read.task.object = scheduler;
      read.task.object_type = of_scheduler->clr.name;
    }
  } else if (antecedent != 0) {
    read.awaits.push_back(antecedent);
  }
}

// The context to which a continuation is posted; 0 if there is none but the thread pool.
std::uint64_t context_of(ManagedObjects& objects, std::uint64_t continuation) {
  const ManagedType* const type = objects.type_of(continuation);
  if (type == nullptr) return 0;
  if (type->is(kContextContinuation)) return objects.reference(continuation, *type, "m_syncContext");
  const bool scheduler = type->is(kSchedulerContinuation);
  if (!scheduler && !type->is(kContinueWith)) return 0;
  const std::uint64_t found = objects.reference(continuation, *type, scheduler ? "m_scheduler" : "m_taskScheduler");
  const ManagedType* const of = objects.type_of(found);
  return of != nullptr && !of->is(kPoolScheduler) ? found : 0;
}

void read_object_of_task(ManagedObjects& objects, std::uint64_t object, const ManagedType& type, ReadTask& read) {
  const auto flags = objects.value<std::uint32_t>(object, type, "m_stateFlags").value_or(0);
  read.task.status = (flags & kCancelled) != 0   ? TaskStatus::cancelled
                     : (flags & kFaulted) != 0   ? TaskStatus::faulted
                     : (flags & kTaskEnded) != 0 ? TaskStatus::done
                                                 : TaskStatus::waiting;
  const std::uint64_t more = objects.reference(object, type, "m_contingentProperties");
  if (const ManagedType* const of = objects.type_of(more)) read.parent = objects.reference(more, *of, "m_parent");
  const std::uint64_t action = objects.reference(object, type, "m_action");
  if (type.field("StateMachine") != nullptr) {
    read.resumed_by = action;  // a box has the delegate that goes on in the field for a task's own
    read_machine(objects, object, machine_of(objects, object, type), read);
  } else if (action != 0) {
    read_delegate(objects, object, type, flags, action, read);
  } else {
    read_promise(objects, object, type, read);
  }
  if (has_ended(read.task.status)) read.awaits.clear();
  // If the methods that wait for the task go on in different contexts, none of these is that of all. Real case: a
  // thread with a context waits for a method that uses ConfigureAwait(false), and another method without it awaits the
  // same task. The first one does not need the thread.
  std::optional<std::uint64_t> context;
  visit_continuations(objects, object, type, [&](std::uint64_t continuation) {
    const std::uint64_t of = context_of(objects, continuation);
    context = context.value_or(of) == of ? of : 0;
  });
  read.context = context.value_or(0);
}

bool is_io(std::string_view name) {
  constexpr std::string_view kOf[] = {"System.IO.", "System.Net.", "Microsoft.Win32.SafeHandles.",
                                      "Microsoft.AspNetCore.Server.Kestrel.Transport."};
  return std::ranges::any_of(kOf, [&](std::string_view begin) { return name.starts_with(begin); });
}

// An object behind a ValueTask (an IValueTaskSource), or an awaiter that is an object.
void read_source(ManagedObjects& objects, std::uint64_t object, const ManagedType& type, ReadTask& read) {
  const Machine machine = machine_of(objects, object, type);
  if (machine.type != nullptr) {
    if (const ClrField* const field = state_field(*machine.type)) {
      const auto state = objects.memory().read_value<std::int32_t>(machine.at + field->offset);
      if (state && (*state == kEnded || *state <= kFirstYield)) read.task.status = TaskStatus::done;
    }
    const std::uint64_t box = box_of_iterator(objects, machine);
    const ManagedType* const of = objects.type_of(box);
    read.resumed_by = of != nullptr ? objects.reference(box, *of, "m_action")
                                    : objects.reference(object, type, "_moveNextAction");
    read_machine(objects, box != 0 ? box : object, machine, read);
    return;
  }
  read.task.kind = TaskKind::value_source;
  if (type.clr.name.starts_with("System.Threading.Channels.")) {
    read.task.kind = TaskKind::channel;
    const auto reserved = objects.value<std::uint8_t>(object, type, "_completionReserved");
    if (reserved.value_or(0) != 0) read.task.status = TaskStatus::done;
  } else if (type.clr.name == "System.Threading.PeriodicTimer+State") {
    read.task.kind = TaskKind::delay;
    const std::uint64_t owner = objects.reference(object, type, "_owner");
    const ManagedType* const of = objects.type_of(owner);
    if (of != nullptr) read.task.due_ms = due_of_timer(objects, objects.reference(owner, *of, "_timer"));
  } else if (is_io(type.clr.name)) {
    read.task.kind = TaskKind::io;
  }
}

}  // namespace

std::string machine_type_of(ManagedObjects& objects, std::uint64_t object) {
  const ManagedType* const type = objects.type_of(object);
  const Machine machine = type != nullptr ? machine_of(objects, object, *type) : Machine{};
  return machine.type != nullptr ? machine.type->clr.name : std::string();
}

std::uint64_t iterator_of(ManagedObjects& objects, std::uint64_t box) {
  const ManagedType* const type = objects.type_of(box);
  const ClrField* const field = type != nullptr ? type->field("StateMachine") : nullptr;
  if (field == nullptr || field->element == kValue) return 0;
  const Machine machine = machine_of(objects, box, *type);
  return machine.type != nullptr && box_of_iterator(objects, machine) == box ? machine.at : 0;
}

void visit_continuations(ManagedObjects& objects, std::uint64_t task, const ManagedType& type,
                         const std::function<void(std::uint64_t)>& visit) {
  const std::uint64_t continuation = objects.reference(task, type, "m_continuationObject");
  if (continuation == 0) return;
  const ManagedType* const of = objects.type_of(continuation);
  if (of == nullptr) return;
  if (of->clr.name != kList) {
    visit(continuation);
    return;
  }
  for (const std::uint64_t object : objects.references_of(continuation, kMaxAwaits).objects) visit(object);
}

std::optional<ReadTask> read_task(ManagedObjects& objects, std::uint64_t object) {
  const ManagedType* const type = objects.type_of(object);
  if (type == nullptr) return std::nullopt;
  ReadTask read{.task = {.address = object, .type = type->clr.name}};
  if (type->task) {
    read_object_of_task(objects, object, *type, read);
  } else {
    read_source(objects, object, *type, read);
  }
  return read;
}

}  // namespace mixwalk
