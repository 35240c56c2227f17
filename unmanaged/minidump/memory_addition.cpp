#include "unmanaged/minidump/memory_addition.h"

#include <limits>

#include "unmanaged/image/data_directory.h"
#include "unmanaged/minidump/file_kind.h"
#include "unmanaged/minidump/minidump_layout.h"

namespace mixwalk {
namespace {

using namespace minidump;

constexpr std::uint64_t kWithFullMemory = 2;  // MINIDUMP_TYPE

// Little-endian values, one after the other, that begin at a known offset of the file.
class Values {
 public:
  explicit Values(std::uint64_t at) : at_(at) {}
  template <class T>
  void put(T value) {
    for (std::size_t i = 0; i < sizeof value; ++i) bytes.push_back(static_cast<std::byte>(std::uint64_t{value} >> 8 * i));
  }
  void align() { bytes.resize(bytes.size() + (8 - place() % 8) % 8); }
  std::uint64_t place() const { return at_ + bytes.size(); }

  std::vector<std::byte> bytes;

 private:
  const std::uint64_t at_;
};

struct Stream {
  std::uint32_t kind = 0, bytes = 0;
  std::uint64_t offset = 0;
};

Stream put_names(Values& tables, std::span<const DumpedName> names) {
  std::vector<std::uint64_t> offsets;
  for (const DumpedName& name : names) {
    tables.align();
    offsets.push_back(tables.place());
    tables.put(static_cast<std::uint32_t>(name.name.size() * sizeof(char16_t)));
    for (const char16_t unit : name.name) tables.put(static_cast<std::uint16_t>(unit));
    tables.put(std::uint16_t{0});
  }
  tables.align();
  const Stream stream{kThreadNames, static_cast<std::uint32_t>(4 + names.size() * kThreadNameBytes), tables.place()};
  tables.put(static_cast<std::uint32_t>(names.size()));
  for (std::size_t i = 0; i < names.size(); ++i) {
    tables.put(names[i].thread);
    tables.put(offsets[i]);
  }
  return stream;
}

}  // namespace

std::optional<MemoryAddition> add_memory(std::span<const std::byte> dump, std::uint64_t dump_bytes,
                                         std::span<const DumpedRange> ranges, std::span<const DumpedName> names) {
  if (file_kind(dump) != MinidumpError::none || dump.size() < kHeaderBytes) return std::nullopt;
  FileReader reader(dump);
  const std::uint64_t count = reader.at<std::uint32_t>(8), directory = reader.at<std::uint32_t>(12);
  if (count > kMaxStreams || reader.range(directory, count * kDirectoryBytes).size() != count * kDirectoryBytes) {
    return std::nullopt;
  }
  Values tables(dump_bytes);
  std::vector<Stream> streams;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = directory + i * kDirectoryBytes;
    const Stream stream{reader.at<std::uint32_t>(at), reader.at<std::uint32_t>(at + 4), reader.at<std::uint32_t>(at + 8)};
    const bool left_out = stream.kind == kUnusedStream || stream.kind == kMemoryList || stream.kind == kMemory64List ||
                          (stream.kind == kThreadNames && !names.empty());
    if (!left_out) streams.push_back(stream);
  }
  if (!names.empty()) streams.push_back(put_names(tables, names));
  tables.align();
  const std::uint64_t new_directory = tables.place();
  const std::uint64_t list_bytes = 16 + ranges.size() * 16;
  const std::uint64_t list = new_directory + (streams.size() + 1) * kDirectoryBytes;
  if (list + list_bytes > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  streams.push_back({kMemory64List, static_cast<std::uint32_t>(list_bytes), list});
  for (const Stream& stream : streams) {
    tables.put(stream.kind);
    tables.put(stream.bytes);
    tables.put(static_cast<std::uint32_t>(stream.offset));
  }
  tables.put(static_cast<std::uint64_t>(ranges.size()));
  tables.put(list + list_bytes);
  for (const DumpedRange& range : ranges) {
    tables.put(range.begin);
    tables.put(range.bytes);
  }
  Values header(0);
  header.bytes.assign(dump.begin(), dump.begin() + 8);
  header.put(static_cast<std::uint32_t>(streams.size()));
  header.put(static_cast<std::uint32_t>(new_directory));
  header.bytes.insert(header.bytes.end(), dump.begin() + 16, dump.begin() + 24);
  header.put(reader.at<std::uint64_t>(24) | kWithFullMemory);
  return MemoryAddition{std::move(tables.bytes), dump_bytes, std::move(header.bytes)};
}

}  // namespace mixwalk
