#include "unmanaged/minidump/minidump_error.h"

namespace mixwalk {

std::string_view to_string(MinidumpError error) noexcept {
  switch (error) {
    case MinidumpError::none: return "no error";
    case MinidumpError::empty: return "the file is empty";
    case MinidumpError::not_a_minidump: return "not a minidump";
    case MinidumpError::text: return "a text file, not a minidump";
    case MinidumpError::archive: return "an archive: unpack it, and give the dump inside";
    case MinidumpError::kernel_dump: return "a dump of the Windows kernel, not of a process";
    case MinidumpError::elf_core: return "a core dump of Linux, not a minidump of Windows";
    case MinidumpError::truncated: return "the dump is cut off, or a table lies beyond its end";
    case MinidumpError::no_system_info: return "the dump does not say which processor it is of";
    case MinidumpError::x86: return "a dump of a 32-bit process (x86); only x64 is read";
    case MinidumpError::arm: return "a dump of a 32-bit process (ARM); only x64 is read";
    case MinidumpError::arm64: return "a dump of an ARM64 process; only x64 is read";
    case MinidumpError::other_machine: return "a dump of another processor; only x64 is read";
    case MinidumpError::no_threads: return "the dump lists no threads";
    case MinidumpError::too_many:
      return "more streams, threads or modules than a process can have";
  }
  return "unknown error";
}

}  // namespace mixwalk
