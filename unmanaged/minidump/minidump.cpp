#include "unmanaged/minidump/minidump.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "unmanaged/ascii_lower.h"
#include "unmanaged/image/data_directory.h"
#include "unmanaged/image/utf16.h"
#include "unmanaged/minidump/file_kind.h"
#include "unmanaged/minidump/minidump_layout.h"

namespace mixwalk {
namespace {

using namespace minidump;

// Limits: some ten times what processes have. A table is also never longer than its stream.
constexpr std::size_t kMaxThreads = 100'000;
constexpr std::size_t kMaxModules = 100'000;
constexpr std::size_t kMaxUnloaded = 1'000;  // the system remembers 64
constexpr std::size_t kMaxTextBytes = 64 * 1024;  // of one text; paths of Windows have at most 32,767 units
// The limit for all texts together, because a small file could name each of its modules by the same long text.
constexpr std::uint64_t kMaxAllTextBytes = std::uint64_t{16} << 20;
constexpr std::size_t kMaxCodeView = 4096 + 24;

// Sizes and offsets of the structures; all are packed to four bytes.
constexpr std::uint64_t kSystemBytes = 56 - 24;  // without the processor's features
constexpr std::uint64_t kThreadBytes = 48, kModuleBytes = 108, kDescriptorBytes = 16;
constexpr std::uint64_t kThreadInfoBytes = 64, kRegionBytes = 48, kUnloadedBytes = 24;
constexpr std::uint32_t kFixedFileInfo = 0xFEEF04BD;

// CONTEXT of x64 (winnt.h).
constexpr std::uint32_t kContextBytes = 0x100;  // up to Rip
constexpr std::uint64_t kContextFlags = 0x30, kRax = 0x78, kRip = 0xF8;
constexpr std::uint32_t kContextAmd64 = 0x100000, kContextControl = 1, kContextInteger = 2;

// The records of a stream that begins with their number: as many as the stream has room for.
struct Table {
  std::uint64_t first = 0;  // offset of the first record in the stream
  std::uint64_t count = 0;
  bool cut = false;  // the stream promises more records than it has
};

// Folklore: some writers (Breakpad's among them) put four bytes between the number and the records, to align the
// records. The stream's size shows which form it is.
Table table_of(std::span<const std::byte> stream, std::uint64_t record_bytes) {
  FileReader reader(stream);
  const std::uint64_t count = reader.at<std::uint32_t>(0);
  if (reader.failed()) return {.cut = true};
  const std::uint64_t first = stream.size() == 8 + count * record_bytes ? 8 : 4;
  const std::uint64_t room = (stream.size() - std::min<std::uint64_t>(first, stream.size())) / record_bytes;
  return {first, std::min(count, room), count > room};
}

// The records of a stream that gives the size of its header and of a record.
Table sized_table_of(std::span<const std::byte> stream, std::uint64_t least_bytes, bool wide_count,
                     std::uint64_t& record_bytes) {
  FileReader reader(stream);
  const std::uint64_t first = reader.at<std::uint32_t>(0);
  record_bytes = reader.at<std::uint32_t>(4);
  const std::uint64_t count = wide_count ? reader.at<std::uint64_t>(8) : reader.at<std::uint32_t>(8);
  if (reader.failed() || record_bytes < least_bytes || first > stream.size()) return {.cut = true};
  const std::uint64_t room = (stream.size() - first) / record_bytes;
  return {first, std::min(count, room), count > room};
}

std::string stem_of(std::string_view path) {
  const std::string_view name = file_name(path);
  return std::string(name.substr(0, name.rfind('.')));
}

}  // namespace

Minidump Minidump::parse(std::span<const std::byte> file) {
  Minidump dump;
  dump.file_ = file;
  dump.text_left_ = kMaxAllTextBytes;
  dump.error_ = dump.parse_all();
  return dump;
}

Minidump Minidump::parse(const MappedFile& file) {
  Minidump dump = parse(file.bytes());
  dump.mapped_ = &file;
  return dump;
}

MinidumpError Minidump::parse_all() {
  if (const MinidumpError kind = file_kind(file_); kind != MinidumpError::none) return kind;
  for (const auto parse : {&Minidump::parse_directory, &Minidump::parse_system}) {
    if (const MinidumpError error = (this->*parse)(); error != MinidumpError::none) return error;
  }
  parse_exception();
  for (const auto parse : {&Minidump::parse_threads, &Minidump::parse_modules}) {
    const MinidumpError error = (this->*parse)();
    const bool has_thread = exception_ && exception_->registers;
    if (error != MinidumpError::none && (error != MinidumpError::no_threads || !has_thread)) return error;
  }
  if (is_wow64()) return MinidumpError::wow64;
  parse_thread_names();
  parse_thread_info();
  parse_unloaded();
  parse_misc();
  parse_memory64_list();
  parse_memory_list();
  sort_memory();
  parse_regions();
  return MinidumpError::none;
}

MinidumpError Minidump::parse_directory() {
  FileReader reader(file_);
  const std::uint32_t count = reader.at<std::uint32_t>(8);
  const std::uint64_t directory = reader.at<std::uint32_t>(12);
  time_ = reader.at<std::uint32_t>(20);
  flags_ = reader.at<std::uint64_t>(24);
  if (file_.size() < kHeaderBytes) return MinidumpError::truncated;
  if (count > kMaxStreams) return MinidumpError::too_many;
  if (reader.range(directory, count * kDirectoryBytes).size() != count * kDirectoryBytes) {
    return MinidumpError::truncated;
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t at = directory + i * kDirectoryBytes;
    streams_.push_back({reader.at<std::uint32_t>(at),
                        {reader.at<std::uint32_t>(at + 4), reader.at<std::uint32_t>(at + 8)}});
  }
  return MinidumpError::none;
}

MinidumpError Minidump::parse_system() {
  const Stream* const found = stream(kSystemInfo);
  if (found == nullptr) return MinidumpError::no_system_info;
  const auto bytes = bytes_of(found->location);
  FileReader reader(bytes);
  const auto machine = reader.at<std::uint16_t>(0);
  system_.processors = reader.at<std::uint8_t>(6);
  system_.major = reader.at<std::uint32_t>(8);
  system_.minor = reader.at<std::uint32_t>(12);
  system_.build = reader.at<std::uint32_t>(16);
  if (reader.failed() || bytes.size() < kSystemBytes) return MinidumpError::truncated;
  switch (machine) {  // PROCESSOR_ARCHITECTURE_*
    case 0: return MinidumpError::x86;
    case 5: return MinidumpError::arm;
    case 9: return MinidumpError::none;
    case 12: return MinidumpError::arm64;
    default: return MinidumpError::other_machine;
  }
}

MinidumpError Minidump::parse_threads() {
  const Stream* const found = stream(kThreadList);
  if (found == nullptr) return MinidumpError::no_threads;
  const auto bytes = bytes_of(found->location);
  const Table table = table_of(bytes, kThreadBytes);
  if (table.cut) return MinidumpError::truncated;
  if (table.count > kMaxThreads) return MinidumpError::too_many;
  if (table.count == 0) return MinidumpError::no_threads;
  FileReader reader(bytes);
  for (std::uint64_t i = 0; i < table.count; ++i) {
    const std::uint64_t at = table.first + i * kThreadBytes;
    MinidumpThread thread{.id = reader.at<std::uint32_t>(at),
                          .suspend_count = reader.at<std::uint32_t>(at + 4),
                          .teb = reader.at<std::uint64_t>(at + 16),
                          .stack_begin = reader.at<std::uint64_t>(at + 24)};
    const Location stack{reader.at<std::uint32_t>(at + 32), reader.at<std::uint32_t>(at + 36)};
    thread.stack_bytes = stack.bytes;
    // If a dump has a list of 64-bit ranges, the stack is in those ranges, and its offset here is 0.
    if (stack.offset != 0) add_memory(thread.stack_begin, stack.bytes, stack.offset);
    thread.registers =
        context_at({reader.at<std::uint32_t>(at + 40), reader.at<std::uint32_t>(at + 44)});
    threads_by_id_.emplace_back(thread.id, threads_.size());
    threads_.push_back(std::move(thread));
  }
  std::stable_sort(threads_by_id_.begin(), threads_by_id_.end(),
                   [](const auto& left, const auto& right) { return left.first < right.first; });
  return MinidumpError::none;
}

MinidumpError Minidump::parse_modules() {
  const Stream* const found = stream(kModuleList);
  if (found == nullptr) return MinidumpError::none;
  const auto bytes = bytes_of(found->location);
  const Table table = table_of(bytes, kModuleBytes);
  if (table.cut) return MinidumpError::truncated;
  if (table.count > kMaxModules) return MinidumpError::too_many;
  FileReader reader(bytes);
  for (std::uint64_t i = 0; i < table.count; ++i) {
    const std::uint64_t at = table.first + i * kModuleBytes;
    MinidumpModule module{.base = reader.at<std::uint64_t>(at),
                          .size = reader.at<std::uint32_t>(at + 8),
                          .timestamp = reader.at<std::uint32_t>(at + 16),
                          .path = text_at(reader.at<std::uint32_t>(at + 20))};
    if (reader.at<std::uint32_t>(at + 24) == kFixedFileInfo) {
      module.file_version = std::uint64_t{reader.at<std::uint32_t>(at + 32)} << 32 |
                            reader.at<std::uint32_t>(at + 36);
    }
    const Location record{reader.at<std::uint32_t>(at + 76), reader.at<std::uint32_t>(at + 80)};
    if (record.bytes <= kMaxCodeView) module.pdb = parse_code_view(bytes_of(record));
    if (module.path.empty() && module.pdb) module.path = stem_of(module.pdb->path);
    modules_.push_back(std::move(module));
  }
  return MinidumpError::none;
}

void Minidump::parse_thread_names() {
  const Stream* const found = stream(kThreadNames);
  if (found == nullptr) return;
  const auto bytes = bytes_of(found->location);
  const Table table = table_of(bytes, kThreadNameBytes);
  FileReader reader(bytes);
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(table.count, kMaxThreads); ++i) {
    const std::uint64_t at = table.first + i * kThreadNameBytes;
    MinidumpThread* const thread = thread_with(reader.at<std::uint32_t>(at));
    if (thread == nullptr || !thread->name.empty()) continue;
    const auto offset = reader.at<std::uint64_t>(at + 4);
    if (offset < file_.size()) thread->name = text_at(offset);
  }
}

void Minidump::parse_thread_info() {
  const Stream* const found = stream(kThreadInfoList);
  if (found == nullptr) return;
  const auto bytes = bytes_of(found->location);
  std::uint64_t record_bytes = 0;
  const Table table = sized_table_of(bytes, kThreadInfoBytes, false, record_bytes);
  FileReader reader(bytes);
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(table.count, kMaxThreads); ++i) {
    const std::uint64_t at = table.first + i * record_bytes;
    MinidumpThread* const thread = thread_with(reader.at<std::uint32_t>(at));
    if (thread == nullptr) continue;
    thread->create_time = reader.at<std::uint64_t>(at + 16);
    thread->kernel_time = reader.at<std::uint64_t>(at + 32);
    thread->user_time = reader.at<std::uint64_t>(at + 40);
    thread->start_address = reader.at<std::uint64_t>(at + 48);
  }
}

void Minidump::parse_unloaded() {
  const Stream* const found = stream(kUnloadedModuleList);
  if (found == nullptr) return;
  const auto bytes = bytes_of(found->location);
  std::uint64_t record_bytes = 0;
  const Table table = sized_table_of(bytes, kUnloadedBytes, false, record_bytes);
  FileReader reader(bytes);
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(table.count, kMaxUnloaded); ++i) {
    const std::uint64_t at = table.first + i * record_bytes;
    unloaded_.push_back({.base = reader.at<std::uint64_t>(at),
                         .size = reader.at<std::uint32_t>(at + 8),
                         .path = text_at(reader.at<std::uint32_t>(at + 20))});
  }
}

// Whether the process is a 32-bit one. If a 64-bit program writes a dump of it, the dump is of the x64 code that runs
// 32-bit code (Microsoft Learn, "WOW64 Implementation Details"). No other process has both of these images.
bool Minidump::is_wow64() const {
  const auto has = [this](std::string_view name) {
    return std::ranges::any_of(modules_, [name](const MinidumpModule& module) {
      return ascii_lower(file_name(module.path)) == name;
    });
  };
  return has("wow64.dll") && has("wow64cpu.dll");
}

void Minidump::parse_exception() {
  const Stream* const found = stream(kException);
  if (found == nullptr) return;
  FileReader reader(bytes_of(found->location));
  MinidumpException exception{.thread = reader.at<std::uint32_t>(0),
                              .code = reader.at<std::uint32_t>(8),
                              .address = reader.at<std::uint64_t>(24),
                              .registers = {}};
  exception.parameter_count =
      std::min<std::uint32_t>(reader.at<std::uint32_t>(32), MinidumpException::kMaxParameters);
  for (std::uint32_t i = 0; i < exception.parameter_count; ++i) {
    exception.parameters[i] = reader.at<std::uint64_t>(40 + 8 * std::uint64_t{i});
  }
  const Location context{reader.at<std::uint32_t>(160), reader.at<std::uint32_t>(164)};
  if (reader.failed()) return;
  exception.registers = context_at(context);
  exception_ = std::move(exception);
}

void Minidump::parse_misc() {
  const Stream* const found = stream(kMiscInfo);
  if (found == nullptr) return;
  constexpr std::uint32_t kProcessId = 1;
  FileReader reader(bytes_of(found->location));
  const auto flags = reader.at<std::uint32_t>(4);
  const auto id = reader.at<std::uint32_t>(8);
  if (!reader.failed() && (flags & kProcessId) != 0) process_id_ = id;
}

void Minidump::parse_memory_list() {
  const Stream* const found = stream(kMemoryList);
  if (found == nullptr) return;
  const auto bytes = bytes_of(found->location);
  const Table table = table_of(bytes, kDescriptorBytes);
  FileReader reader(bytes);
  for (std::uint64_t i = 0; i < table.count; ++i) {
    const std::uint64_t at = table.first + i * kDescriptorBytes;
    add_memory(reader.at<std::uint64_t>(at), reader.at<std::uint32_t>(at + 8),
               reader.at<std::uint32_t>(at + 12));
  }
}

// The ranges follow each other in the file.
void Minidump::parse_memory64_list() {
  const Stream* const found = stream(kMemory64List);
  if (found == nullptr) return;
  const auto bytes = bytes_of(found->location);
  FileReader reader(bytes);
  const auto promised = reader.at<std::uint64_t>(0);
  std::uint64_t offset = reader.at<std::uint64_t>(8);
  if (reader.failed()) return;
  const std::uint64_t count = std::min<std::uint64_t>(promised, (bytes.size() - 16) / kDescriptorBytes);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = 16 + i * kDescriptorBytes;
    const auto range_bytes = reader.at<std::uint64_t>(at + 8);
    add_memory(reader.at<std::uint64_t>(at), range_bytes, offset);
    if (range_bytes > UINT64_MAX - offset) return;
    offset += range_bytes;
  }
}

void Minidump::add_memory(std::uint64_t begin, std::uint64_t bytes, std::uint64_t offset) {
  if (bytes == 0 || bytes - 1 > UINT64_MAX - begin) return;
  const std::uint64_t there = offset < file_.size() ? std::min<std::uint64_t>(bytes, file_.size() - offset) : 0;
  // The sum is only shown, and in a hostile file it may become arbitrarily large.
  missing_bytes_ += std::min(bytes - there, UINT64_MAX - missing_bytes_);
  if (there != 0) memory_.push_back({begin, there, offset});
}

void Minidump::sort_memory() {
  std::stable_sort(memory_.begin(), memory_.end(), [](const MinidumpRange& left, const MinidumpRange& right) {
    return left.begin < right.begin;
  });
  std::vector<MinidumpRange> sorted;
  for (MinidumpRange range : memory_) {
    if (!sorted.empty()) {
      MinidumpRange& last = sorted.back();
      const std::uint64_t covered = last.begin + (last.bytes - 1);  // the last address that is known
      if (range.begin + (range.bytes - 1) <= covered) continue;
      if (range.begin <= covered) {
        const std::uint64_t known = covered - range.begin + 1;
        range = {range.begin + known, range.bytes - known, range.offset + known};
      }
      if (range.begin - 1 == covered && range.offset - last.offset == last.bytes) {
        last.bytes += range.bytes;
        continue;
      }
    }
    sorted.push_back(range);
  }
  memory_ = std::move(sorted);
}

void Minidump::parse_regions() {
  const Stream* const found = stream(kMemoryInfoList);
  if (found == nullptr) return;
  const auto bytes = bytes_of(found->location);
  std::uint64_t record_bytes = 0;
  const Table table = sized_table_of(bytes, kRegionBytes, true, record_bytes);
  FileReader reader(bytes);
  for (std::uint64_t i = 0; i < table.count; ++i) {
    const std::uint64_t at = table.first + i * record_bytes;
    const MinidumpRegion region{.begin = reader.at<std::uint64_t>(at),
                                .bytes = reader.at<std::uint64_t>(at + 24),
                                .state = reader.at<std::uint32_t>(at + 32),
                                .protection = reader.at<std::uint32_t>(at + 36),
                                .type = reader.at<std::uint32_t>(at + 40)};
    if (region.bytes != 0 && region.bytes - 1 <= UINT64_MAX - region.begin) regions_.push_back(region);
  }
  std::stable_sort(regions_.begin(), regions_.end(), [](const MinidumpRegion& left, const MinidumpRegion& right) {
    return left.begin < right.begin;
  });
  // If two ranges overlap, it is not known which one is right, so the first is kept.
  std::vector<MinidumpRegion> disjoint;
  for (const MinidumpRegion& region : regions_) {
    if (disjoint.empty() || region.begin - disjoint.back().begin >= disjoint.back().bytes) {
      disjoint.push_back(region);
    }
  }
  regions_ = std::move(disjoint);
}

const Minidump::Stream* Minidump::stream(std::uint32_t kind) const noexcept {
  const auto found = std::find_if(streams_.begin(), streams_.end(),
                                  [&](const Stream& stream) { return stream.kind == kind; });
  return found == streams_.end() ? nullptr : &*found;
}

// Returns the part of the location that the file has.
std::span<const std::byte> Minidump::bytes_of(const Location& location) const noexcept {
  if (location.offset >= file_.size()) return {};
  return file_.subspan(location.offset,
                       std::min<std::size_t>(location.bytes, file_.size() - location.offset));
}

// MINIDUMP_STRING: the number of bytes, followed by UTF-16.
std::string Minidump::text_at(std::uint64_t offset) const {
  FileReader reader(file_);
  const std::uint64_t bytes = reader.at<std::uint32_t>(offset);
  if (reader.failed() || bytes > kMaxTextBytes || bytes > text_left_) return {};
  text_left_ -= bytes;
  return utf8_of_utf16(reader.range(offset + 4, bytes));
}

std::optional<Registers> Minidump::context_at(const Location& location) const noexcept {
  const auto bytes = bytes_of(location);
  if (bytes.size() < kContextBytes) return std::nullopt;
  FileReader reader(bytes);
  constexpr std::uint32_t kWanted = kContextAmd64 | kContextControl | kContextInteger;
  if ((reader.at<std::uint32_t>(kContextFlags) & kWanted) != kWanted) return std::nullopt;
  Registers registers;
  for (std::size_t i = 0; i < kGeneralRegisters; ++i) {
    registers.general[i] = reader.at<std::uint64_t>(kRax + 8 * i);
  }
  registers.rip = reader.at<std::uint64_t>(kRip);
  return registers;
}

MinidumpThread* Minidump::thread_with(std::uint32_t id) {
  const auto found = std::lower_bound(threads_by_id_.begin(), threads_by_id_.end(), id,
                                      [](const auto& entry, std::uint32_t value) { return entry.first < value; });
  return found != threads_by_id_.end() && found->first == id ? &threads_[found->second] : nullptr;
}

}  // namespace mixwalk
