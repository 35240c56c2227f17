#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "unmanaged/step/memory_reader.h"

namespace mixwalk {

struct ListedImage {
  std::uint64_t base;
  std::string path;  // UTF-8
};

// The images that the loader of this process lists now, in the order in which they were loaded. The list
// is read as another process reads it: without the loader lock, so a target that hangs in the loader can
// be looked at, and by checked reads (PlainMemory), so nothing faults. The loader may change the list
// meanwhile: where the list does not hold together, it is read again. Not frozen-safe (it allocates).
//
// Folklore: the program dies in EnumProcessModules. Situation: images come and go on another thread. Real
// case: torture, all kinds, ended after 200 s, once in some 30 minutes. Wine's EnumProcessModules reads
// the list of its own process in place, without the lock, and falls over an entry that has gone; proof
// without our DLL: `lookup_race.exe list`. Remedy: this function. Test: loader_list_test.
//
// Source: Microsoft Learn, "PEB_LDR_DATA structure (winternl.h)".
std::vector<ListedImage> read_loader_list();

// The same of another process, of which nothing is trusted: `peb` is the address of its process environment
// block. A list that goes round in circles ends, and so does one that is longer than any; all paths together have a
// limit. `again` is called before the list is read once more: what `memory` has kept is to be forgotten. Empty: nothing.
std::vector<ListedImage> read_loader_list(const MemoryReader& memory, std::uint64_t peb,
                                          const std::function<void()>& again);

// One reading of such a list, of which `head` is the address: entries as far as each leads back to the
// one before. Apart for the tests.
struct ListReading {
  std::vector<ListedImage> images;
  bool whole = false;  // up to the head again
};
ListReading read_image_list(const MemoryReader& memory, std::uint64_t head);

}  // namespace mixwalk
