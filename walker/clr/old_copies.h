#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "walker/clr/clr_questions.h"

namespace mixwalk {

// Of addresses that the words of a stack have, those at which the heap has no object. Nothing is returned for addresses
// about which no answer comes. Not frozen-safe.
//
// Folklore: a collection moves objects. The slots of a stack that are still in use get the new addresses, and a slot
// that is not in use keeps the old one, where the old copy of the object may still be readable. Real case: each waiter
// of fixtures/monitors had two locks among its words, and so none was shown. Remedy: where the words of a stack have
// more such objects than there can be, only those at which the heap has an object count. Test: locks_test
// (`monitors.exe --collect`).
std::vector<std::uint64_t> old_copies(ClrQuestions& clr, std::span<const std::uint64_t> addresses);

}  // namespace mixwalk
