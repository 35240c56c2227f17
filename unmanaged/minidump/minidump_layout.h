#pragma once

#include <cstdint>

namespace mixwalk::minidump {

// The header of a minidump and the numbers of its streams, for its reader and for code that adds to a dump. All
// structures are packed to four bytes. (Microsoft Learn, "minidumpapiset.h".)

inline constexpr std::uint32_t kMaxStreams = 4096;  // real dumps have some 20

// MINIDUMP_STREAM_TYPE.
enum Kind : std::uint32_t {
  kUnusedStream = 0,
  kThreadList = 3,
  kModuleList = 4,
  kMemoryList = 5,
  kException = 6,
  kSystemInfo = 7,
  kMemory64List = 9,
  kUnloadedModuleList = 14,
  kMiscInfo = 15,
  kMemoryInfoList = 16,
  kThreadInfoList = 17,
  kThreadNames = 24,
};

// Bytes of MINIDUMP_HEADER, of a MINIDUMP_DIRECTORY and of a MINIDUMP_THREAD_NAME.
inline constexpr std::uint64_t kHeaderBytes = 32, kDirectoryBytes = 12, kThreadNameBytes = 12;

}  // namespace mixwalk::minidump
