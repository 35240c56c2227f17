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

// Returns the images that the loader of this process lists now, in the order in which they were loaded. The list is
// read as if from another process: without the loader lock, so that a target that hangs in the loader can be inspected,
// and by checked reads (PlainMemory), so that nothing faults. The loader may change the list meanwhile: if the list is
// inconsistent, it is read again. Not frozen-safe (it allocates).
//
// Folklore: the program dies in EnumProcessModules. Situation: images are loaded and unloaded on another thread. Real
// case: the torture test with all kinds ended after 200 s, once in some 30 minutes. Wine's EnumProcessModules reads the
// list of its own process in place, without the lock, and faults at an entry that has been freed; proof without our
// DLL: `lookup_race.exe list`. Remedy: this function. Test: loader_list_test.
// Source: Microsoft Learn, "PEB_LDR_DATA structure (winternl.h)".
std::vector<ListedImage> read_loader_list();

// Like read_loader_list(), for another process. That process is not trusted. `peb` is the address of its process
// environment block. Reading ends for a circular list and for a list that is longer than any real one; all paths
// together have a limit. `again` is called before the list is read once more, because cached memory must be forgotten
// at that moment. The result is empty if the list cannot be read.
std::vector<ListedImage> read_loader_list(const MemoryReader& memory, std::uint64_t peb,
                                          const std::function<void()>& again);

// One reading of such a list: its entries, as long as each leads back to the one before. `head` is the address of the
// list. This is a separate function for the tests.
struct ListReading {
  std::vector<ListedImage> images;
  bool whole = false;  // the reading reached the head again
};
ListReading read_image_list(const MemoryReader& memory, std::uint64_t head);

}  // namespace mixwalk
