#include "unmanaged/minidump/minidump_error.h"

#include "unmanaged/enum_texts.h"

namespace mixwalk {

std::string_view to_string(MinidumpError error) noexcept {
  static constexpr EnumTexts<MinidumpError::wow64> kTexts{
      "no error",
      "the file is empty",
      "not a minidump",
      "a text file, not a minidump",
      "an archive: unpack it, and give the dump inside",
      "a dump of the Windows kernel, not of a process",
      "a program or a core dump of Linux, not a minidump of Windows",
      "the dump is cut off, or a table lies beyond its end",
      "the dump does not say which processor it is of",
      "a dump of a 32-bit process (x86); only x64 is read",
      "a dump of a 32-bit process (ARM); only x64 is read",
      "a dump of an ARM64 process; only x64 is read",
      "a dump of another processor; only x64 is read",
      "the dump lists no threads",
      "more streams, threads or modules than a process can have",
      "a 64-bit dump of a 32-bit process; only x64 processes are read. For a debugger, let a 32-bit program write the "
      "dump (SysWOW64\\taskmgr.exe, or procdump without -64)"};
  return kTexts.of(error, "unknown error");
}

}  // namespace mixwalk
