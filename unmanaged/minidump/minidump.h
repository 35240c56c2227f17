#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "unmanaged/image/debug_directory.h"
#include "unmanaged/minidump/mapped_file.h"
#include "unmanaged/minidump/minidump_error.h"
#include "unmanaged/step/registers.h"

namespace mixwalk {

// MINIDUMP_SYSTEM_INFO.
struct MinidumpSystem {
  std::uint32_t major = 0, minor = 0, build = 0;  // of Windows
  std::uint8_t processors = 0;
};

// MINIDUMP_THREAD, with what other streams record about the thread.
struct MinidumpThread {
  std::uint32_t id = 0;
  std::uint32_t suspend_count = 0;
  std::uint64_t teb = 0;
  // The part of its stack that is in the dump, as the thread list says; 0 bytes if there is none.
  std::uint64_t stack_begin = 0, stack_bytes = 0;
  std::optional<Registers> registers;  // nothing if the dump has no CONTEXT of the thread, or a damaged one
  std::string name;                    // UTF-8; empty if the thread has no name or the dump has no names
  // MINIDUMP_THREAD_INFO; 0 if unknown. Times are FILETIMEs: units of 100 ns since 1601.
  std::uint64_t start_address = 0, create_time = 0, kernel_time = 0, user_time = 0;
};

// MINIDUMP_MODULE.
struct MinidumpModule {
  std::uint64_t base = 0;
  std::uint32_t size = 0;       // SizeOfImage
  std::uint32_t timestamp = 0;  // IMAGE_FILE_HEADER.TimeDateStamp
  std::string path;             // UTF-8; if the dump has no name, that of the PDB without its extension
  std::uint64_t file_version = 0;  // VS_FIXEDFILEINFO: four numbers of 16 bits, the highest first; 0 if there is none
  // Identifies the PDB that belongs to the image. The dump does not say whether it is a portable PDB.
  std::optional<CodeViewId> pdb;
};

// MINIDUMP_UNLOADED_MODULE.
struct MinidumpUnloaded {
  std::uint64_t base = 0;
  std::uint32_t size = 0;  // SizeOfImage
  std::string path;        // UTF-8; usually only a file name
};

// MINIDUMP_EXCEPTION_STREAM.
struct MinidumpException {
  static constexpr std::size_t kMaxParameters = 15;  // EXCEPTION_MAXIMUM_PARAMETERS

  std::uint32_t thread = 0;
  std::uint32_t code = 0;
  std::uint64_t address = 0;
  std::array<std::uint64_t, kMaxParameters> parameters{};  // ExceptionInformation; 0 beyond `parameter_count`
  std::uint32_t parameter_count = 0;
  std::optional<Registers> registers;  // at the place where the exception was raised
};

// A piece of the target's memory: its address in the target, and its offset in the file.
struct MinidumpRange {
  std::uint64_t begin = 0;  // target address
  std::uint64_t bytes = 0;  // begin + bytes does not exceed 2^64
  std::uint64_t offset = 0;

  bool operator==(const MinidumpRange&) const = default;
};

// MINIDUMP_MEMORY_INFO: a region of pages with one protection.
struct MinidumpRegion {
  std::uint64_t begin = 0, bytes = 0;  // begin + bytes does not exceed 2^64
  std::uint32_t state = 0, protection = 0, type = 0;  // MEM_*, PAGE_*, MEM_*
};

// A minidump of an x64 process, read from its bytes. Every offset, count and size in the file is untrusted: a required
// table that does not fit is an error, and anything else that does not fit is left out. If there are two streams of one
// kind, the first counts, as for MiniDumpReadDumpStream. Memory is not copied. Not frozen-safe (it allocates, in
// proportion to the tables of the file). (Microsoft Learn, "minidumpapiset.h".)
class Minidump {
 public:
  // `file` must outlive this.
  static Minidump parse(std::span<const std::byte> file);
  static Minidump parse(const MappedFile& file);

  // If this is not `none`, the other functions return nothing of meaning.
  MinidumpError error() const noexcept { return error_; }

  std::span<const std::byte> file() const noexcept { return file_; }
  // Null if the dump was read from bytes.
  const MappedFile* mapped() const noexcept { return mapped_; }
  std::uint32_t time() const noexcept { return time_; }  // seconds since 1970 UTC, of the dump
  std::uint64_t flags() const noexcept { return flags_; }  // MINIDUMP_TYPE
  const MinidumpSystem& system() const noexcept { return system_; }
  // MINIDUMP_MISC_INFO; 0 if unknown.
  std::uint32_t process_id() const noexcept { return process_id_; }

  // Is empty only if the dump has no list of threads, and an exception whose registers are known.
  std::span<const MinidumpThread> threads() const noexcept { return threads_; }
  std::span<const MinidumpModule> modules() const noexcept { return modules_; }
  // In the order of the list.
  std::span<const MinidumpUnloaded> unloaded() const noexcept { return unloaded_; }
  const std::optional<MinidumpException>& exception() const noexcept { return exception_; }

  // Sorted by address and disjoint; ranges that adjoin both in the target and in the file are joined. If two ranges of
  // the file overlap, the one with the lower address counts.
  std::span<const MinidumpRange> memory() const noexcept { return memory_; }
  // The number of bytes of the target's memory that the tables promise and the file does not have, because it was cut
  // off.
  std::uint64_t missing_bytes() const noexcept { return missing_bytes_; }
  // Sorted by address and disjoint; empty if the dump does not say what the pages were.
  std::span<const MinidumpRegion> regions() const noexcept { return regions_; }

 private:
  struct Location {
    std::uint32_t bytes = 0, offset = 0;
  };
  struct Stream {
    std::uint32_t kind = 0;
    Location location;
  };

  MinidumpError parse_all();
  MinidumpError parse_directory();
  MinidumpError parse_system();
  MinidumpError parse_threads();
  MinidumpError parse_modules();
  void parse_thread_names();
  void parse_thread_info();
  void parse_unloaded();
  void parse_exception();
  bool is_wow64() const;
  void parse_misc();
  void parse_memory_list();
  void parse_memory64_list();
  void parse_regions();
  void add_memory(std::uint64_t begin, std::uint64_t bytes, std::uint64_t offset);
  void sort_memory();

  // Returns null if there is no such stream.
  const Stream* stream(std::uint32_t kind) const noexcept;
  std::span<const std::byte> bytes_of(const Location& location) const noexcept;
  std::string text_at(std::uint64_t offset) const;
  std::optional<Registers> context_at(const Location& location) const noexcept;
  MinidumpThread* thread_with(std::uint32_t id);

  std::span<const std::byte> file_;
  const MappedFile* mapped_ = nullptr;
  MinidumpError error_ = MinidumpError::not_a_minidump;
  std::vector<Stream> streams_;
  std::uint32_t time_ = 0;
  std::uint64_t flags_ = 0;
  MinidumpSystem system_;
  std::uint32_t process_id_ = 0;
  std::vector<MinidumpThread> threads_;
  std::vector<std::pair<std::uint32_t, std::size_t>> threads_by_id_;
  std::vector<MinidumpModule> modules_;
  std::vector<MinidumpUnloaded> unloaded_;
  std::optional<MinidumpException> exception_;
  std::vector<MinidumpRange> memory_;
  std::uint64_t missing_bytes_ = 0;
  std::vector<MinidumpRegion> regions_;
  mutable std::uint64_t text_left_ = 0;  // bytes of texts that may still be read
};

}  // namespace mixwalk
