#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "walker/model/recording.h"

namespace mixwalk::layout {

// The numbers of the .mixwalk format. docs/format.md says what they mean, and docs/mixwalk.proto is the schema for
// machines. Numbers never change their meaning. A change of the format's meaning raises kVersion.
inline constexpr std::uint32_t kVersion = 3;
// Why a file of a higher version cannot be read.
inline constexpr const char* kWrittenLater = "a later version of mixwalk wrote it: read it with that version";
// The lowest version whose readers understand a recording of such events. Files have this version, so that an earlier
// mixwalk reads every file that it can.
constexpr std::uint32_t version_for(SampleEvent event) noexcept {
  return event == SampleEvent::class_load || event == SampleEvent::module_load ? kVersion : 2;
}

// The file as a whole is one protobuf message; its first field is always these seven letters.
inline constexpr std::string_view kMagic = "\x0A\x07mixwalk";

// The fields of the file: its records.
enum class File : std::uint32_t { magic = 1, header = 2, chunk = 3, footer = 4 };

// The last field of every record: the CRC-32 of all earlier bytes of the record. It has a tag and four bytes.
inline constexpr std::uint32_t kChecksum = 15;
inline constexpr std::size_t kChecksumBytes = 5;

// The fields of a chunk. The other messages are described in table_rows.cpp.
namespace chunk {
enum : std::uint32_t {
  module = 1, thread = 2, thread_name = 3, detail = 4, frame = 5, node_caller = 6, node_frame = 7,
  sample_time = 8, sample_thread = 9, sample_stack = 10, sample_value = 11, sample_detail = 12,
  duration_ns = 13, dropped = 14, assembly = 20, lock = 21, locks_missing = 22, locks_known = 23,
  earlier_dump = 24, some_threads = 25, unasked = 26, sample_standing = 27,
  crash = 28, async = 29, handled = 30,
};
}  // namespace chunk

// The most rows that a file may contain. This is far more than a process has, but few enough that a small file cannot
// ask for much memory. At these sizes the tables take no more than some 900 MB in memory, not counting names and
// samples, which are limited by the file's own size (samples by eight times the size).
inline constexpr std::size_t kMaxModules = 1 << 18;
inline constexpr std::size_t kMaxAssemblies = 1 << 18;
inline constexpr std::size_t kMaxThreads = 1 << 20;
inline constexpr std::size_t kMaxDetails = 1 << 20;
inline constexpr std::size_t kMaxLocks = 1 << 18;  // of all dumps together
inline constexpr std::size_t kMaxWaiters = 1 << 20;  // of all locks together
inline constexpr std::size_t kMaxSharers = 1 << 20;  // of all locks together
// Of all dumps together: tasks, contexts and items of the thread pool's queue; and the numbers that name them.
inline constexpr std::size_t kMaxTasks = 1 << 20;
inline constexpr std::size_t kMaxTaskNumbers = 1 << 24;
inline constexpr std::size_t kMaxExceptions = 1 << 16;  // of all dumps together, inner exceptions included
inline constexpr std::size_t kMaxEarlierDumps = 1 << 12;
inline constexpr std::size_t kMaxCpuTimes = 1 << 22;  // of all earlier dumps together
inline constexpr std::size_t kMaxFrames = 1 << 22;
inline constexpr std::size_t kMaxNodes = 1 << 24;
inline constexpr std::size_t kMaxSamples = 1 << 27;
// Frames of one stack. A walk has half as many at most, and half as many again may be P/Invokes that the JIT has
// inlined.
inline constexpr std::uint32_t kMaxDepth = 1 << 17;

// The highest value of each enumeration in a file.
inline constexpr SampleEvent kLastEvent = SampleEvent::module_load;
inline constexpr Engine kLastEngine = Engine::automatic;
inline constexpr FrameKind kLastKind = FrameKind::gap;
inline constexpr SymbolKind kLastSymbol = SymbolKind::import;
inline constexpr LockKind kLastLock = LockKind::pause;  // semaphore and callback are fields of their own
inline constexpr Trust kLastTrust = Trust::scan;  // frame_pointer is a field of its own
inline constexpr AddressKind kLastAddressKind = AddressKind::return_address;
inline constexpr OpenReason kLastReason = kLastOpenReason;

}  // namespace mixwalk::layout
