#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mixwalk {

// A piece of a process's memory that goes into a dump.
struct DumpedRange {
  std::uint64_t begin = 0, bytes = 0;  // target address; begin + bytes does not exceed 2^64
};

// The name of a thread, for a dump whose writer may not record names.
struct DumpedName {
  std::uint32_t thread = 0;
  std::u16string name;
};

// The parts that add the process's memory to a minidump without it: first tables with a new directory, to be appended
// to the dump; then the memory of all ranges, one after the other; and at the end a new header. Until the header is
// written, the file is still the original dump. (Microsoft Learn, "minidumpapiset.h": MINIDUMP_MEMORY64_LIST,
// MINIDUMP_THREAD_NAME_LIST.)
struct MemoryAddition {
  std::vector<std::byte> tables;  // to be written at tables_at
  std::uint64_t tables_at = 0;    // the memory begins at tables_at + tables.size()
  std::vector<std::byte> header;  // to be written at 0
};

// `dump` is the beginning of a minidump of `dump_bytes` bytes, with its directory. The list of threads' stacks is left
// out of the new directory because the stacks are part of the memory. Returns nothing if `dump` is not such a dump, or
// is too large for a minidump's 32-bit offsets. Allocates; not frozen-safe.
std::optional<MemoryAddition> add_memory(std::span<const std::byte> dump, std::uint64_t dump_bytes,
                                         std::span<const DumpedRange> ranges, std::span<const DumpedName> names);

// A stream that keeps room for a list of threads' names in a dump. MiniDumpWriteDump writes it among the dump's tables
// (MINIDUMP_USER_STREAM), where the 32-bit offsets of streams reach; behind the memory of a large process they do not.
// Kinds above LastReservedStream (0xFFFF) are free for use.
inline constexpr std::uint32_t kNamesRoomStream = 0x4D57'4E52;
std::size_t names_room(std::span<const DumpedName> names);  // bytes of such a stream

// The change by which that room becomes a list of names: two pieces, of which the directory's entry is written last.
struct NamesChange {
  std::vector<std::byte> names, entry;  // no names, and an entry for nothing, if the dump has a list of names already
  std::uint64_t names_at = 0, entry_at = 0;
};

// `dump` is the beginning of a minidump, with its directory. Returns nothing if the directory has no such room, or too
// little. Allocates; not frozen-safe.
std::optional<NamesChange> fill_names_room(std::span<const std::byte> dump, std::span<const DumpedName> names);

}  // namespace mixwalk
