#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "unmanaged/step/memory_reader.h"

namespace mixwalk {

// Identifies the build of an image, by its headers.
struct DacStamp {
  std::uint32_t timestamp = 0;  // IMAGE_FILE_HEADER.TimeDateStamp
  std::uint32_t size = 0;       // SizeOfImage, bytes

  bool operator==(const DacStamp&) const = default;
};

// "68B0A2C514F000": the name of an image's folder in a symbol store. (Microsoft Learn, "Using SymStore", the key of a
// PE file: the timestamp in eight digits, then the size without leading zeros.)
std::string store_key(const DacStamp& stamp);

// A file's version, from the version resource. All numbers are zero if it is unknown.
struct FileVersion {
  std::uint16_t major = 0, minor = 0, build = 0, revision = 0;

  bool operator==(const FileVersion&) const = default;
};
// "10.0.1226.42308".
std::string to_string(const FileVersion& version);

// The facts that a loaded runtime (coreclr.dll, or a single-file program) contains about itself.
struct RuntimeIdentity {
  DacStamp dac;       // identifies the only debugging library that fits
  FileVersion version;  // of the runtime's own file; of a single-file program before .NET 9, of the program
};

// Returns nothing if no runtime is loaded at `base`, or if the data that identifies its library cannot be read. Nothing
// that is read is trusted. Sources: the resource CLRDEBUGINFO, which .NET's debugging shim reads (u32 version 0, a
// GUID, then timestamp and size of the DAC and of the debugger library); and the export DotNetRuntimeInfo of
// runtimeinfo.h, whose DacModuleIndex is a count of bytes, the timestamp and the size, and whose RuntimeVersion is four
// u32.
std::optional<RuntimeIdentity> read_runtime_identity(const MemoryReader& memory, std::uint64_t base);

}  // namespace mixwalk
