#include "unmanaged/minidump/whole_dump.h"

#include "unmanaged/minidump/mapped_file.h"
#include "unmanaged/minidump/minidump.h"

namespace mixwalk {

std::string why_not_whole(const std::string& path) {
  const MappedFile file(path);
  if (!file.error().empty()) return file.error();
  const Minidump dump = Minidump::parse(file.bytes());
  if (dump.error() != MinidumpError::none) return std::string(to_string(dump.error()));
  if (dump.missing_bytes() == 0) return {};
  return std::to_string(dump.missing_bytes()) + " bytes of the dump are missing, as when the disk is full";
}

}  // namespace mixwalk
