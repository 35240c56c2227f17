#pragma once

#include <cstdint>
#include <string_view>

namespace mixwalk {

// The reason why a file cannot be read as a minidump. The numbers are documented (docs/dumps.md), so a new one is added
// at the end.
enum class MinidumpError : std::uint8_t {
  none = 0,
  empty = 1,           // a file of no bytes
  not_a_minidump = 2,  // any file that none of the following errors describes
  text = 3,
  archive = 4,         // ZIP, gzip, 7z or CAB: the dump is inside
  kernel_dump = 5,     // a dump of the system, not of a process
  elf_core = 6,        // a core dump of Linux
  truncated = 7,       // the header, or a table that is needed, lies beyond the end of the file
  no_system_info = 8,  // the processor is unknown
  x86 = 9,
  arm = 10,
  arm64 = 11,
  other_machine = 12,
  no_threads = 13,
  too_many = 14,       // more streams, threads or modules than a process can have
  wow64 = 15,          // a 64-bit program wrote it of a 32-bit process
};

// Returns one line that says what the file is, without a full stop.
std::string_view to_string(MinidumpError error) noexcept;

}  // namespace mixwalk
