#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "walker/clr/clr_questions.h"

namespace mixwalk {

// How code gets an object: an argument or a static field, and from there a path of fields.
struct LoadedBy {
  std::int64_t argument = -1;
  std::string static_field;  // if `argument` is -1
  std::vector<std::string> fields;

  bool operator==(const LoadedBy&) const = default;
};

// The semaphores that a method has entered at a place of its code, and that it releases later. That is proven by the
// code if there is a call of SemaphoreSlim.Wait() or an await of WaitAsync() before the place, and
// - the code between the call and the place can be entered only through the call: no branch from elsewhere and no
//   exception handler of code before the call leads into it. The branches by which a state machine goes on behind an
//   await count for none, because it was at that await before;
// - none of the code between them releases this semaphore, or one that is not known, or sets a field that leads to it;
// - behind the place, the code releases it.
// A SemaphoreSlim itself does not record who has entered it. `at`: the offset of the call in which the method is. Pure;
// not frozen-safe.
std::vector<LoadedBy> semaphores_entered_at(std::span<const ClrIlStep> il, std::uint32_t at);

// Whether the code behind the place releases the semaphore for each time that it has entered it, and once more: for the
// wait at the place. Folklore: other code may release it. Case: a method waits until what it has begun is over, whose
// callback calls Release(), and then enters it once more. It was a deadlock while the device only wrote. Test:
// SemaphoreHolders.OfAThreadThatWaitsForOneTwiceInOneMethod.
bool releases_all_at(std::span<const ClrIlStep> il, std::uint32_t at, const LoadedBy& semaphore);
// Whether the code before the place sets a field by which the object was loaded.
bool sets_before(std::span<const ClrIlStep> il, std::uint32_t at, const LoadedBy& loaded);

// How the call of SemaphoreSlim.Wait or WaitAsync at this offset gets its semaphore. Nothing if there is no such call.
std::optional<LoadedBy> semaphore_awaited_at(std::span<const ClrIlStep> il, std::uint32_t at);

// What this code gives to the only call of a method, as the argument with this number. (0 is `this`, if there is one.)
// Nothing if there is no such call or more than one, or if the argument is no plain value. `method`: as a ClrIlStep has
// its name.
std::optional<LoadedBy> argument_given(std::span<const ClrIlStep> il, std::string_view method, std::int64_t argument);

// Of a state machine: the offset at which it begins to wait at the await with this number. Nothing if it is not found.
std::optional<std::uint32_t> offset_of_await(std::span<const ClrIlStep> il, std::int64_t number);
// With which count a constructor makes the semaphore of a field that only constructors set. `field`: as a
// ClrIlStep has it. Nothing if it is not found.
std::optional<std::int64_t> first_count_of(std::span<const ClrIlStep> constructor, const std::string& field);
// The last call of SemaphoreSlim.WaitAsync before that offset.
std::optional<std::uint32_t> wait_before(std::span<const ClrIlStep> il, std::uint32_t at);

}  // namespace mixwalk
