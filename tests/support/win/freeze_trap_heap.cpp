// operator new and delete of mixwalk_trapped.dll: they count, for the test that checks whether a recording's memory
// stays constant.

#include <cstddef>
#include <cstdlib>
#include <new>

#include "tests/support/win/freeze_trap.h"

namespace {

// The size of a block is stored before the block. The header is so large that the block keeps its own alignment.
constexpr std::size_t kHeaderBytes = 16;

std::atomic<std::int64_t> g_bytes{0};

void count(std::int64_t change) noexcept {
  const std::int64_t now = g_bytes.fetch_add(change) + change;
  if (mixwalk::FreezeTrapRecord* record = mixwalk::freeze_trap_record()) record->heap_bytes = now;
}

}  // namespace

void* operator new(std::size_t bytes) {
  auto* block = static_cast<char*>(std::malloc(bytes + kHeaderBytes));
  if (block == nullptr) throw std::bad_alloc();
  *reinterpret_cast<std::size_t*>(block) = bytes;
  count(static_cast<std::int64_t>(bytes));
  return block + kHeaderBytes;
}

void operator delete(void* memory) noexcept {
  if (memory == nullptr) return;
  char* const block = static_cast<char*>(memory) - kHeaderBytes;
  count(-static_cast<std::int64_t>(*reinterpret_cast<std::size_t*>(block)));
  std::free(block);
}

void* operator new[](std::size_t bytes) { return operator new(bytes); }
void operator delete[](void* memory) noexcept { operator delete(memory); }
void operator delete(void* memory, std::size_t) noexcept { operator delete(memory); }
void operator delete[](void* memory, std::size_t) noexcept { operator delete(memory); }
