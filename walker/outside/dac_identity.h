#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "unmanaged/step/memory_reader.h"

namespace mixwalk {

// Which build of an image it is, as its headers say.
struct DacStamp {
  std::uint32_t timestamp = 0;  // IMAGE_FILE_HEADER.TimeDateStamp
  std::uint32_t size = 0;       // SizeOfImage, bytes

  bool operator==(const DacStamp&) const = default;
};

// "68B0A2C514F000": the name of an image's folder in a symbol store. (Microsoft Learn, "Using SymStore", the key of a
// PE file: the timestamp in eight digits, then the size without leading zeros.)
std::string store_key(const DacStamp& stamp);

// A file's version, from the version resource; all zero: unknown.
struct FileVersion {
  std::uint16_t major = 0, minor = 0, build = 0, revision = 0;

  bool operator==(const FileVersion&) const = default;
};
// "10.0.1226.42308".
std::string to_string(const FileVersion& version);

// What a loaded runtime (coreclr.dll, or a single-file program) says about itself.
struct RuntimeIdentity {
  DacStamp dac;       // the one debugging library that fits
  FileVersion version;  // of the runtime's own file; of a single-file program before .NET 9 that of the program
};

// Returns nothing if no runtime is loaded at `base`, or the data that identifies its library cannot be read. Nothing
// that is read is trusted. Sources: the resource CLRDEBUGINFO (.NET's debugging shim reads it: u32 version 0, a GUID,
// then timestamp and size of the DAC and of the debugger library); the export DotNetRuntimeInfo of runtimeinfo.h, whose
// DacModuleIndex is a count of bytes, the timestamp and the size, and whose RuntimeVersion is four u32.
std::optional<RuntimeIdentity> read_runtime_identity(const MemoryReader& memory, std::uint64_t base);

}  // namespace mixwalk
