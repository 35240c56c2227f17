#include "walker/locks/semaphores.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "unmanaged/home_space.h"
#include "walker/clr/question_messages.h"
#include "walker/locks/object_paths.h"
#include "walker/locks/semaphore_code.h"
#include "walker/locks/stack_words.h"
#include "walker/model/thread_locks.h"

namespace mixwalk {
namespace {

constexpr std::string_view kSemaphore = "System.Threading.SemaphoreSlim";

constexpr std::string_view kWaits = "System.Threading.SemaphoreSlim.Wait";
constexpr std::size_t kMaxMethods = 20'000, kMaxFrames = 100;
constexpr std::size_t kMaxHolders = 20'000;  // words of one stack that may be objects with a semaphore
constexpr std::size_t kMaxSteps = 50'000, kMaxKeptSteps = 4'000'000;  // of the IL of one method, and of all methods
constexpr std::chrono::seconds kMaxTime{5};

class HolderSearch {
 public:
  HolderSearch(Snapshot& snapshot, const Target& target, ClrQuestions& clr)
      : snapshot_(snapshot), clr_(clr), objects_(target.memory(), clr), stacks_(target) {
    for (Lock& lock : snapshot.locks) {
      if (lock.kind == LockKind::semaphore) semaphores_.emplace(lock.address, &lock);
    }
  }

  void add() {
    for (const Thread& thread : snapshot_.threads) note_static_of(thread);
    for (std::uint32_t i = 0; i < snapshot_.tasks.size(); ++i) note_static_of(snapshot_.tasks[i]);
    for (const Thread& thread : snapshot_.threads) add_thread(thread);
    for (std::uint32_t i = 0; i < snapshot_.tasks.size(); ++i) add_task(i);
    for (const auto& [address, semaphore] : semaphores_) finish(address, *semaphore);
  }

 private:
  using Steps = std::vector<ClrIlStep>;

  const Steps& il_of(std::uint64_t method) { return il_of({method, ""}, [&] { return clr_.il_of(method); }); }
  template <class Ask>
  const Steps& il_of(const std::pair<std::uint64_t, std::string>& of, Ask ask) {
    if (const auto known = il_.find(of); known != il_.end()) return known->second;
    Steps steps = ask();
    // The analysis of a long method takes long, and such methods are of no program that people write.
    if (steps.size() > kMaxSteps || std::chrono::steady_clock::now() >= end_) steps.clear();
    if (il_.size() == kMaxMethods || kept_steps_ > kMaxKeptSteps) {
      il_.clear();
      kept_steps_ = 0;
    }
    kept_steps_ += steps.size();
    return il_[of] = std::move(steps);
  }

  static bool waits(const StackFrame& frame) {
    return frame.kind == FrameKind::managed && frame.name.starts_with(kWaits);
  }

  // The index of the frame that has called SemaphoreSlim.Wait; nothing if the thread does not wait there.
  static std::optional<std::size_t> caller_of_wait(const Thread& thread) {
    const auto& frames = thread.stack.frames;
    for (std::size_t i = 0; i + 1 < frames.size() && i < kMaxFrames; ++i) {
      if (!waits(frames[i]) || waits(frames[i + 1])) continue;
      return frames[i + 1].kind == FrameKind::managed ? std::optional(i + 1) : std::nullopt;
    }
    return std::nullopt;
  }

  // A static field has the semaphore for which its code waits, and any other code that names the field means the same.
  void note_static(const std::optional<LoadedBy>& loaded, std::uint64_t semaphore) {
    if (!loaded || loaded->argument >= 0 || !loaded->fields.empty()) return;
    const auto known = statics_.try_emplace(loaded->static_field, semaphore).first;
    if (known->second != semaphore) known->second = 0;
  }

  void note_static_of(const Thread& thread) {
    const auto caller = caller_of_wait(thread);
    const AwaitedLock awaited = lock_waited_for_by(snapshot_, thread.os_id);
    if (!caller || awaited.lock == nullptr || awaited.lock->kind != LockKind::semaphore) return;
    note_static(awaited_in(thread.stack.frames[*caller]), awaited.lock->address);
  }

  // The semaphore for which the frame's method calls SemaphoreSlim.Wait at this moment.
  std::optional<LoadedBy> awaited_in(const StackFrame& frame) {
    const auto at = offset_in(frame);
    return at ? semaphore_awaited_at(il_of(frame.function), *at) : std::nullopt;
  }

  void note_static_of(const AsyncTask& task) {
    const auto machine = machine_of(task);
    if (!machine || task.awaits.size() != 1 || task.awaits[0] >= snapshot_.tasks.size()) return;
    const std::uint64_t semaphore = snapshot_.tasks[task.awaits[0]].object;
    const auto call = wait_before(*machine->il, machine->at);
    if (semaphores_.contains(semaphore) && call) note_static(semaphore_awaited_at(*machine->il, *call), semaphore);
  }

  // The offset in IL at which a frame is. The offset of a caller is that of its call.
  std::optional<std::uint32_t> offset_in(const StackFrame& frame) {
    if (frame.function == 0 || il_of(frame.function).empty()) return std::nullopt;
    const std::uint64_t ip = CodeAddress{frame.address, frame.address_kind}.lookup();
    const ClrIlPlaces found = clr_.il_places({&ip, 1});
    if (found.places.empty() || found.places[0].il.assembly < 0) return std::nullopt;
    // The offset is where the code of the statement begins, so the call is the next one behind it.
    const Steps& il = il_of(frame.function);
    for (const ClrIlStep& step : il) {
      if (step.kind == ClrIlStep::Kind::call && step.begin >= found.places[0].il.offset) return step.begin;
    }
    return std::nullopt;
  }

  struct Machine {
    std::uint64_t at_value = 0;  // the address of the machine, whose fields are counted from there
    std::uint64_t type = 0;      // its MethodTable
    const Steps* il = nullptr;
    std::uint32_t at = 0;
  };

  // The state machine of a task that is at an await.
  std::optional<Machine> machine_of(const AsyncTask& task) {
    if (task.kind != TaskKind::async_method || task.await_number < 0 || has_ended(task.status)) return std::nullopt;
    const ManagedType* const box = objects_.objects().type_of(task.address);
    const ClrField* const field = box != nullptr ? box->field("StateMachine") : nullptr;
    if (field == nullptr) return std::nullopt;
    Machine machine{.at_value = task.address + field->offset, .type = field->type};
    if (machine.type == 0) {  // a class, in code that is not optimised
      machine.at_value = objects_.reference(task.address, {"StateMachine"});
      machine.type = objects_.objects().method_table_of(machine.at_value);
    }
    machine.il = &il_of({machine.type, "MoveNext"}, [&] { return clr_.il_of(machine.type, "MoveNext"); });
    const auto at = offset_of_await(*machine.il, task.await_number);
    if (!at) return std::nullopt;
    machine.at = *at;
    return machine;
  }

  // Follows a path of fields from a value of a type; 0 if it leads nowhere.
  std::uint64_t follow(std::uint64_t at, std::uint64_t type, std::span<const std::string> fields) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const ManagedType* const of = objects_.objects().type(type);
      const ClrField* const field = of != nullptr ? of->field(fields[i]) : nullptr;
      if (field == nullptr) return 0;
      at += field->offset;
      type = field->type;
      if (type != 0) continue;  // a value in the value
      at = objects_.memory().read_value<std::uint64_t>(at).value_or(0);
      type = objects_.objects().method_table_of(at);
    }
    return at;
  }

  // With which count the program has made a semaphore, to which a path of fields leads from a value of a type.
  void note_count(std::uint64_t semaphore, std::uint64_t at, std::uint64_t type, std::span<const std::string> fields) {
    if (fields.empty() || !semaphores_.contains(semaphore)) return;
    const std::uint64_t owner = fields.size() == 1 ? type : objects_.objects().method_table_of(
                                                                follow(at, type, fields.first(fields.size() - 1)));
    const Steps& il = il_of({owner, ".ctor"}, [&] { return clr_.il_of(owner, ".ctor"); });
    if (const auto count = first_count_of(il, fields.back())) counts_[semaphore] = *count;
  }

  // The same for one that a method on the thread's stack has loaded so. If it is an argument, the callers gave it.
  void note_count(std::uint64_t semaphore, const Thread& thread, std::size_t at, LoadedBy loaded) {
    const auto& frames = thread.stack.frames;
    while (loaded.argument >= 0 && loaded.fields.empty() && at + 1 < frames.size()) {
      const StackFrame& called = frames[at];
      const StackFrame& caller = frames[++at];
      if (caller.kind != FrameKind::managed || caller.function == 0 || is_guess(caller.trust)) break;
      const std::string_view method = std::string_view(called.name).substr(0, called.name.find('('));
      const auto given = argument_given(il_of(caller.function), method, loaded.argument);
      if (!given) break;
      loaded = *given;
    }
    if (loaded.argument < 0 && loaded.fields.empty()) {
      note_static_count(semaphore, thread, loaded.static_field);
    } else {
      note_count_by_objects(semaphore, thread);
    }
  }

  // Only the name of the field is known. If fields of several types on the stack have it, their counts must be equal.
  void note_static_count(std::uint64_t semaphore, const Thread& thread, const std::string& field) {
    const auto& frames = thread.stack.frames;
    std::set<std::int64_t> counts;
    for (std::size_t i = 0; i < frames.size() && i < kMaxFrames; ++i) {
      const std::uint64_t method = frames[i].kind == FrameKind::managed ? frames[i].function : 0;
      if (method == 0 || frames[i].name.starts_with("System.")) continue;
      const Steps& il = il_of({method, ".cctor"}, [&] { return clr_.il_of(method, ".cctor"); });
      if (const auto count = first_count_of(il, field)) counts.insert(*count);
    }
    if (counts.size() == 1) counts_[semaphore] = *counts.begin();
  }

  // An object has the semaphore in a field that only its constructor sets.
  void note_count_by_objects(std::uint64_t semaphore, const Thread& thread) {
    std::vector<std::uint64_t> words = stacks_.of(thread);
    if (words.size() > kMaxHolders) words.resize(kMaxHolders);
    objects_.objects().expect(words);
    for (const std::uint64_t word : words) {
      const ManagedType* const type = objects_.objects().type_of(word);
      if (type == nullptr) continue;
      for (const ClrField& field : type->clr.fields) {
        if (field.type != 0 || type->field(field.name) != &field) continue;
        if (objects_.memory().read_value<std::uint64_t>(word + field.offset) != semaphore) continue;
        const std::uint64_t table = objects_.objects().method_table_of(word);
        const Steps& il = il_of({table, ".ctor"}, [&] { return clr_.il_of(table, ".ctor"); });
        if (const auto count = first_count_of(il, field.name)) counts_[semaphore] = *count;
      }
    }
  }

  std::uint64_t static_semaphore(const LoadedBy& loaded) const {
    const auto known = statics_.find(loaded.static_field);
    return loaded.fields.empty() && known != statics_.end() ? known->second : 0;
  }

  void add_task(std::uint32_t index) {
    const auto machine = machine_of(snapshot_.tasks[index]);
    if (!machine) return;
    for (const LoadedBy& loaded : semaphores_entered_at(*machine->il, machine->at)) {
      const std::uint64_t address = loaded.argument == 0  ? follow(machine->at_value, machine->type, loaded.fields)
                                    : loaded.argument < 0 ? static_semaphore(loaded)
                                                          : 0;
      const auto semaphore = semaphores_.find(address);
      if (semaphore == semaphores_.end()) continue;
      const std::vector<std::uint32_t>& awaits = snapshot_.tasks[index].awaits;
      const bool once_more = std::ranges::any_of(awaits, [&](std::uint32_t awaited) {
        return awaited < snapshot_.tasks.size() && snapshot_.tasks[awaited].object == address;
      });
      if (once_more && !releases_all_at(*machine->il, machine->at, loaded)) continue;
      semaphore->second->task_holders.push_back(index);
      if (loaded.argument == 0) note_count(address, machine->at_value, machine->type, loaded.fields);
    }
  }

  // The methods of the program on a thread's stack, as far as they are at calls.
  void add_thread(const Thread& thread) {
    const auto& frames = thread.stack.frames;
    for (std::size_t i = 0; i + 1 < frames.size() && i < kMaxFrames; ++i) {
      if (frames[i].kind != FrameKind::managed || frames[i].name.starts_with("System.")) continue;
      if (is_guess(frames[i].trust)) return;
      const auto at = offset_in(frames[i]);
      if (!at) continue;
      for (const LoadedBy& loaded : semaphores_entered_at(il_of(frames[i].function), *at)) {
        const std::uint64_t address =
            loaded.argument < 0 ? static_semaphore(loaded) : on_stack(thread, i, loaded);
        const auto semaphore = semaphores_.find(address);
        if (semaphore == semaphores_.end() || may_be_released(thread, i, *at, loaded, address)) continue;
        semaphore->second->sharers.push_back(thread.os_id);
        note_count(address, thread, i, loaded);
      }
    }
  }

  // Whether the thread waits once more for a semaphore that the method of a frame has entered, and other code may
  // release it: the code that waits does not release it once more.
  bool may_be_released(const Thread& thread, std::size_t frame, std::uint32_t at, const LoadedBy& loaded,
                       std::uint64_t semaphore) {
    const AwaitedLock awaited = lock_waited_for_by(snapshot_, thread.os_id);
    if (awaited.lock == nullptr || awaited.lock->address != semaphore) return false;
    const auto caller = caller_of_wait(thread);
    if (!caller || *caller > frame) return true;
    if (*caller == frame) return !releases_all_at(il_of(thread.stack.frames[frame].function), at, loaded);
    const StackFrame& waits = thread.stack.frames[*caller];
    const auto waits_at = offset_in(waits);
    const auto waits_for = awaited_in(waits);
    return !waits_at || !waits_for || !releases_all_at(il_of(waits.function), *waits_at, *waits_for);
  }

  // The semaphore of an argument of the frame's method. The method uses it once more, so it keeps the argument on the
  // stack. It must be the only one there, other than the one that the thread waits for, and nobody can enter it. If
  // there is no other one, it may be the one that the thread waits for: then the code must say so.
  std::uint64_t on_stack(const Thread& thread, std::size_t frame, const LoadedBy& loaded) {
    const std::uint64_t end = thread.stack.frames[frame + 1].stack_pointer;
    if (end == 0) return 0;
    const AwaitedLock awaited = lock_waited_for_by(snapshot_, thread.os_id);
    std::set<std::uint64_t> found;
    bool awaits_it = false;
    for (const std::uint64_t word : stacks_.of(thread, end + kHomeBytes)) {
      const std::uint64_t type = objects_.objects().method_table_of(word);
      const std::uint64_t address = type != 0 ? follow(word, type, loaded.fields) : 0;
      if (address == 0 || objects_.type_name(address) != kSemaphore) continue;
      if (awaited.lock != nullptr && awaited.lock->address == address) {
        awaits_it = true;
      } else {
        found.insert(address);
      }
    }
    if (found.empty() && awaits_it && waits_for(thread, frame, loaded)) found.insert(awaited.lock->address);
    if (found.size() != 1) return 0;
    return objects_.value<std::int32_t>(*found.begin(), {"m_currentCount"}) == 0 ? *found.begin() : 0;
  }

  // Whether the thread waits for what the method of a frame has loaded so: the method itself waits for it, or has given
  // it, or the object that has it, to the method that does.
  bool waits_for(const Thread& thread, std::size_t frame, const LoadedBy& loaded) {
    const auto& frames = thread.stack.frames;
    const auto caller = caller_of_wait(thread);
    auto waited_for = caller ? awaited_in(frames[*caller]) : std::nullopt;
    for (std::size_t i = caller.value_or(0); i < frame && waited_for; ++i) {
      if (waited_for->argument < 0 || sets_one_of(frames[i], loaded)) return false;
      auto given = given_to(frames[i], frames[i + 1], waited_for->argument);
      if (given) std::ranges::copy(waited_for->fields, std::back_inserter(given->fields));
      waited_for = std::move(given);
    }
    return caller && *caller <= frame && waited_for == loaded;
  }

  // Whether the method has set a field with such a name before its present call: the thread may wait for another
  // semaphore than the one that was entered.
  bool sets_one_of(const StackFrame& frame, const LoadedBy& loaded) {
    const auto at = offset_in(frame);
    return !at || sets_before(il_of(frame.function), *at, loaded);
  }

  // What a method gives to the method that it calls at this moment, as an argument.
  std::optional<LoadedBy> given_to(const StackFrame& called, const StackFrame& caller, std::int64_t argument) {
    if (called.kind != FrameKind::managed || caller.kind != FrameKind::managed) return std::nullopt;
    const auto at = is_guess(caller.trust) ? std::nullopt : offset_in(caller);
    if (!at) return std::nullopt;
    const std::string_view method = std::string_view(called.name).substr(0, called.name.find('('));
    const Steps& il = il_of(caller.function);
    // The JIT may have made one method of the caller and of another one, which has called this one.
    const bool calls_it = std::ranges::any_of(il, [&](const ClrIlStep& step) {
      return step.kind == ClrIlStep::Kind::call && step.begin == *at && step.name == method;
    });
    return calls_it ? argument_given(il, method, argument) : std::nullopt;
  }

  void finish(std::uint64_t address, Lock& semaphore) {
    std::ranges::sort(semaphore.sharers);
    semaphore.sharers.erase(std::unique(semaphore.sharers.begin(), semaphore.sharers.end()), semaphore.sharers.end());
    if (semaphore.sharers.empty() && semaphore.task_holders.empty()) return;
    // No more than this number can have entered it. Without a limit, it does not keep with which count it was made.
    constexpr std::int32_t kNoLimit = std::numeric_limits<std::int32_t>::max();
    const auto limit = objects_.value<std::int32_t>(address, {"m_maxCount"}).value_or(kNoLimit);
    const auto made = counts_.find(address);
    // Folklore: a semaphore that is made with the count 0 is a signal, and any thread may release it. Real case: a
    // worker that waits for work, and gives its turn to the next one if there is more. Test: SemaphoreHolders.
    if (made != counts_.end() && made->second == 0) return;
    const std::int64_t most = limit != kNoLimit ? limit : made != counts_.end() ? made->second : 0;
    if (most > 0 && most < kNoLimit) semaphore.recursion = static_cast<std::uint32_t>(most);
  }

  Snapshot& snapshot_;
  ClrQuestions& clr_;
  ObjectPaths objects_;
  StackWords stacks_;
  std::map<std::uint64_t, Lock*> semaphores_;  // by address
  std::map<std::pair<std::uint64_t, std::string>, Steps> il_;
  std::size_t kept_steps_ = 0;
  const std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + kMaxTime;
  std::map<std::uint64_t, std::int64_t> counts_;  // with which semaphores were made, by address
  std::map<std::string, std::uint64_t> statics_;  // semaphores by static fields; 0: several
};

}  // namespace

void add_semaphore_holders(Snapshot& snapshot, const Target& target, ClrQuestions& clr) {
  const bool wanted = std::ranges::any_of(snapshot.locks, [](const Lock& lock) {
    return lock.kind == LockKind::semaphore && lock.held;
  });
  if (wanted) HolderSearch(snapshot, target, clr).add();
}

void add_semaphores_of_tasks(Snapshot& snapshot, ClrQuestions& clr) {
  std::set<std::uint64_t> wanted;
  for (const AsyncTask& task : snapshot.tasks) {
    if (task.object != 0 && task.object_type == kSemaphore) wanted.insert(task.object);
  }
  for (const Lock& lock : snapshot.locks) wanted.erase(lock.address);
  const std::vector<std::uint64_t> objects(wanted.begin(), wanted.end());
  std::vector<Lock> found;
  for (std::size_t at = 0; at < objects.size(); at += kMaxAsked) {
    const auto some = std::span(objects).subspan(at, std::min(kMaxAsked, objects.size() - at));
    const std::vector<std::optional<ClrLock>> answers = clr.lock_objects(some);
    for (std::size_t i = 0; i < some.size() && i < answers.size(); ++i) {
      if (!answers[i] || !answers[i]->semaphore) continue;
      found.push_back({.kind = LockKind::semaphore,
                       .address = some[i],
                       .type = std::string(kSemaphore),
                       .held = answers[i]->held,
                       .waiters = {}});
    }
  }
  add_locks(snapshot, std::move(found));
}

}  // namespace mixwalk
