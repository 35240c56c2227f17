#include "walker/locks/semaphore_code.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace mixwalk {
namespace {

using Kind = ClrIlStep::Kind;

constexpr std::string_view kWaitCall = "System.Threading.SemaphoreSlim.Wait",
                           kWaitAsyncCall = "System.Threading.SemaphoreSlim.WaitAsync",
                           kReleaseCall = "System.Threading.SemaphoreSlim.Release";
constexpr std::string_view kStateField = "<>1__state", kThisField = "<>4__this";

// Whether a branch leads to a step behind `after`, up to `to`: what these steps use may come from elsewhere.
bool is_joined(std::span<const ClrIlStep> il, std::uint32_t after, std::uint32_t to) {
  return std::ranges::any_of(il, [&](const ClrIlStep& step) {
    return (step.kind == Kind::branch || step.kind == Kind::handler) && step.number > after && step.number <= to;
  });
}

// Where a state machine waits, if what it awaits has not ended: from the branch over it to the target of this branch.
struct AwaitBlock {
  std::uint32_t begin = 0, end = 0;
  std::int64_t number = -1;
};

class MethodCode {
 public:
  explicit MethodCode(std::span<const ClrIlStep> il) : il_(il) {
    for (std::size_t i = 0; i < il.size(); ++i) {
      if (il[i].kind == Kind::store_local) ++stores_[il[i].number], last_store_[il[i].number] = i;
      if (il[i].kind == Kind::store_argument) stored_arguments_.insert(il[i].number);
    }
    find_awaits();
    find_dispatch();
  }

  // The awaits of the code, in its order.
  const std::vector<AwaitBlock>& awaits() const { return awaits_; }

  // What the step before this one has loaded.
  std::optional<LoadedBy> loaded_before(std::size_t step, int depth = 0) const {
    const std::uint32_t user = il_[step].begin;
    LoadedBy loaded;
    while (step-- != 0 && depth < 4) {
      const ClrIlStep& at = il_[step];
      if (is_joined(il_, at.begin, user)) return std::nullopt;
      switch (at.kind) {
        case Kind::load_field:
          if (at.name.empty()) return std::nullopt;
          loaded.fields.insert(loaded.fields.begin(), at.name);
          break;
        case Kind::load_argument:
          if (stored_arguments_.contains(at.number)) return std::nullopt;
          loaded.argument = at.number;
          return loaded;
        case Kind::load_static:
          loaded.static_field = at.name;
          return at.name.empty() ? std::nullopt : std::optional(loaded);
        case Kind::load_local: {
          // A local variable that is set once is what it is set to.
          const auto stores = stores_.find(at.number);
          if (stores == stores_.end() || stores->second != 1) return std::nullopt;
          auto source = loaded_before(last_store_.at(at.number), depth + 1);
          if (!source || sets(il_[last_store_.at(at.number)].begin, user, *source)) return std::nullopt;
          source->fields.insert(source->fields.end(), loaded.fields.begin(), loaded.fields.end());
          return source;
        }
        default: return std::nullopt;
      }
    }
    return std::nullopt;
  }

  // Goes back over so many values that were loaded before the step, and returns the first step of the last one.
  std::optional<std::size_t> before_values(std::size_t step, std::int64_t values) const {
    for (; values > 0; --values) {
      do {
        if (step-- == 0) return std::nullopt;
      } while (il_[step].kind == Kind::load_field);
      const Kind kind = il_[step].kind;
      if (kind != Kind::load_argument && kind != Kind::load_local && kind != Kind::load_static &&
          kind != Kind::constant) {
        return std::nullopt;
      }
    }
    return step;
  }

  // Whether the code from `begin` up to the place `at` is entered only at its beginning.
  bool only_through(std::uint32_t begin, std::uint32_t at) const {
    return std::ranges::none_of(il_, [&](const ClrIlStep& step) {
      if (step.kind != Kind::branch && step.kind != Kind::handler) return false;
      if (step.number < begin || step.number > at) return false;
      return (step.begin < begin || step.begin > at) && !dispatch_.contains(&step);
    });
  }

  // How many calls release it.
  std::size_t releases(std::uint32_t begin, std::uint32_t end, const LoadedBy& semaphore, bool or_unknown) const {
    std::size_t calls = 0;
    for (std::size_t i = 0; i < il_.size(); ++i) {
      if (il_[i].kind != Kind::call || il_[i].begin < begin || il_[i].begin >= end) continue;
      if (il_[i].name != kReleaseCall) continue;
      const auto loaded = il_[i].number == 0 ? loaded_before(i) : std::nullopt;
      if (loaded ? *loaded == semaphore : or_unknown) ++calls;
    }
    return calls;
  }

  // Whether this part sets a field by which the object was loaded: the same fields may then lead to another object.
  bool sets(std::uint32_t begin, std::uint32_t end, const LoadedBy& loaded) const {
    return std::ranges::any_of(il_, [&](const ClrIlStep& step) {
      if (step.begin < begin || step.begin >= end) return false;
      if (step.kind == Kind::store_static) return loaded.argument < 0 && step.name == loaded.static_field;
      return step.kind == Kind::store_field && std::ranges::find(loaded.fields, step.name) != loaded.fields.end();
    });
  }

 private:
  void find_awaits() {
    for (std::size_t i = 0; i + 1 < il_.size(); ++i) {
      const bool asks = il_[i].kind == Kind::call && il_[i].name.ends_with(".get_IsCompleted");
      const ClrIlStep& branch = il_[i + 1];
      if (!asks || branch.kind != Kind::branch || branch.number <= branch.begin) continue;
      AwaitBlock block{.begin = branch.begin, .end = static_cast<std::uint32_t>(branch.number)};
      std::int64_t constant = -1;
      for (std::size_t j = i + 2; j < il_.size() && il_[j].begin < block.end && block.number < 0; ++j) {
        if (il_[j].kind == Kind::constant) constant = il_[j].number;
        if (il_[j].kind == Kind::store_field && il_[j].name == kStateField) block.number = constant;
      }
      if (block.number >= 0) awaits_.push_back(block);
    }
  }

  // A state machine begins with branches to where it goes on. Nothing but its state is loaded before them. If it goes
  // on in a protected part, they lead to the beginning of that part, where more of them follow.
  void find_dispatch() {
    if (awaits_.empty()) return;
    const auto end = std::ranges::find_if(il_, [](const ClrIlStep& step) {
      if (step.kind == Kind::load_field) return step.name != kStateField && step.name != kThisField;
      return step.kind == Kind::call || step.kind == Kind::store_field || step.kind == Kind::load_static ||
             step.kind == Kind::store_static;
    });
    for (const ClrIlStep& step : il_) {
      if (step.kind == Kind::branch && end != il_.end() && step.begin < end->begin) dispatch_.insert(&step);
    }
  }

  std::span<const ClrIlStep> il_;
  std::map<std::int64_t, int> stores_;
  std::map<std::int64_t, std::size_t> last_store_;
  std::set<std::int64_t> stored_arguments_;
  std::vector<AwaitBlock> awaits_;
  std::set<const ClrIlStep*> dispatch_;
};

// The semaphores of semaphores_entered_at(), one for each call that has entered it.
std::vector<LoadedBy> entries_at(const MethodCode& code, std::span<const ClrIlStep> il, std::uint32_t at) {
  std::vector<LoadedBy> entered;
  for (std::size_t i = 0; i < il.size(); ++i) {
    const ClrIlStep& call = il[i];
    const bool waits = call.kind == Kind::call && call.name == kWaitCall;
    const bool awaits = call.kind == Kind::call && call.name == kWaitAsyncCall;
    if ((!waits && !awaits) || call.number != 0 || call.end > at) continue;
    const std::uint32_t begin = call.end;
    if (awaits) {
      // The task must be awaited at once, and this await must be over.
      const auto next = std::find_if(il.begin() + static_cast<std::ptrdiff_t>(i) + 1, il.end(),
                                     [](const ClrIlStep& step) { return step.kind == Kind::call; });
      const bool at_once = next != il.end() && (next->name.ends_with(".GetAwaiter") ||
                                                next->name.ends_with(".ConfigureAwait"));
      const auto block = std::ranges::find_if(code.awaits(),
                                              [&](const AwaitBlock& one) { return one.begin > call.begin; });
      if (!at_once || block == code.awaits().end() || block->end > at) continue;
    }
    const auto semaphore = code.loaded_before(i);
    if (!semaphore || !code.only_through(begin, at) || code.sets(begin, at, *semaphore)) continue;
    // The present call may be the one that releases it.
    if (code.releases(begin, at + 1, *semaphore, true) != 0) continue;
    if (code.releases(at + 1, ~0u, *semaphore, false) != 0) entered.push_back(*semaphore);
  }
  return entered;
}

}  // namespace

std::vector<LoadedBy> semaphores_entered_at(std::span<const ClrIlStep> il, std::uint32_t at) {
  std::vector<LoadedBy> entered;
  for (const LoadedBy& semaphore : entries_at(MethodCode(il), il, at)) {
    if (std::ranges::find(entered, semaphore) == entered.end()) entered.push_back(semaphore);
  }
  return entered;
}

bool releases_all_at(std::span<const ClrIlStep> il, std::uint32_t at, const LoadedBy& semaphore) {
  const MethodCode code(il);
  const auto entries = static_cast<std::size_t>(std::ranges::count(entries_at(code, il, at), semaphore));
  return code.releases(at + 1, ~0u, semaphore, false) > entries;
}

bool sets_before(std::span<const ClrIlStep> il, std::uint32_t at, const LoadedBy& loaded) {
  return MethodCode(il).sets(0, at, loaded);
}

std::optional<LoadedBy> semaphore_awaited_at(std::span<const ClrIlStep> il, std::uint32_t at) {
  for (std::size_t i = 0; i < il.size(); ++i) {
    const ClrIlStep& call = il[i];
    if (call.kind != Kind::call || call.begin > at || call.end <= at) continue;
    const bool waits = call.name == kWaitCall || call.name == kWaitAsyncCall;
    return waits && call.number == 0 ? MethodCode(il).loaded_before(i) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<LoadedBy> argument_given(std::span<const ClrIlStep> il, std::string_view method, std::int64_t argument) {
  const auto calls = [&](const ClrIlStep& step) { return step.kind == Kind::call && step.name == method; };
  const auto call = std::ranges::find_if(il, calls);
  if (call == il.end() || std::find_if(call + 1, il.end(), calls) != il.end() || call->number < 0) return std::nullopt;
  const std::int64_t behind = call->number + (call->instance ? 1 : 0) - 1 - argument;
  if (argument < 0 || behind < 0) return std::nullopt;
  const MethodCode code(il);
  const auto end = code.before_values(static_cast<std::size_t>(call - il.begin()), behind);
  if (!end || is_joined(il, il[*end].begin, call->begin)) return std::nullopt;
  return code.loaded_before(*end);
}

std::optional<std::uint32_t> offset_of_await(std::span<const ClrIlStep> il, std::int64_t number) {
  const MethodCode code(il);
  std::optional<std::uint32_t> found;
  for (const AwaitBlock& block : code.awaits()) {
    if (block.number != number) continue;
    if (found) return std::nullopt;
    found = block.begin;
  }
  return found;
}

std::optional<std::int64_t> first_count_of(std::span<const ClrIlStep> constructor, const std::string& field) {
  std::optional<std::size_t> store;
  for (std::size_t i = 0; i < constructor.size(); ++i) {
    const ClrIlStep& step = constructor[i];
    const bool stores = step.kind == Kind::store_field || step.kind == Kind::store_static;
    if (!stores || step.name != field) continue;
    if (store || step.number != 1) return std::nullopt;
    store = i;
  }
  if (!store || *store < 2) return std::nullopt;
  const ClrIlStep& made = constructor[*store - 1];
  if (made.kind != Kind::call || made.name != "System.Threading.SemaphoreSlim..ctor" || made.number < 1) {
    return std::nullopt;
  }
  const auto arguments = static_cast<std::size_t>(made.number);
  if (arguments > 2 || *store < 1 + arguments) return std::nullopt;
  const ClrIlStep& first = constructor[*store - 1 - arguments];
  if (first.kind != Kind::constant || is_joined(constructor, first.begin, constructor[*store].begin)) {
    return std::nullopt;
  }
  return first.number;
}

std::optional<std::uint32_t> wait_before(std::span<const ClrIlStep> il, std::uint32_t at) {
  std::optional<std::uint32_t> found;
  for (const ClrIlStep& step : il) {
    if (step.kind == Kind::call && step.begin < at && step.name == kWaitAsyncCall) found = step.begin;
  }
  return found;
}

}  // namespace mixwalk
