#include "unmanaged/minidump/memory_addition.h"

#include <algorithm>
#include <limits>
#include <utility>

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
    for (std::size_t i = 0; i < sizeof value; ++i)
      bytes.push_back(static_cast<std::byte>(std::uint64_t{value} >> 8 * i));
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

void put_entry(Values& directory, const Stream& stream) {
  directory.put(stream.kind);
  directory.put(stream.bytes);
  directory.put(static_cast<std::uint32_t>(stream.offset));
}

// The streams of the directory, and its place.
struct Directory {
  std::uint64_t at = 0;
  std::vector<Stream> streams;
};
std::optional<Directory> directory_of(std::span<const std::byte> dump) {
  if (file_kind(dump) != MinidumpError::none || dump.size() < kHeaderBytes) return std::nullopt;
  FileReader reader(dump);
  const std::uint64_t count = reader.at<std::uint32_t>(8);
  Directory directory{reader.at<std::uint32_t>(12), {}};
  if (count > kMaxStreams || reader.range(directory.at, count * kDirectoryBytes).size() != count * kDirectoryBytes) {
    return std::nullopt;
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t at = directory.at + i * kDirectoryBytes;
    directory.streams.push_back(
        {reader.at<std::uint32_t>(at), reader.at<std::uint32_t>(at + 4), reader.at<std::uint32_t>(at + 8)});
  }
  return directory;
}

}  // namespace

std::optional<MemoryAddition> add_memory(std::span<const std::byte> dump, std::uint64_t dump_bytes,
                                         std::span<const DumpedRange> ranges, std::span<const DumpedName> names) {
  const auto directory = directory_of(dump);
  if (!directory) return std::nullopt;
  Values tables(dump_bytes);
  std::vector<Stream> streams;
  for (const Stream& stream : directory->streams) {
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
  for (const Stream& stream : streams) put_entry(tables, stream);
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
  header.put(FileReader(dump).at<std::uint64_t>(24) | kWithFullMemory);
  return MemoryAddition{std::move(tables.bytes), dump_bytes, std::move(header.bytes)};
}

std::size_t names_room(std::span<const DumpedName> names) {
  Values list(0);
  put_names(list, names);
  return list.bytes.size() + 7;  // the stream may begin at any place
}

std::optional<NamesChange> fill_names_room(std::span<const std::byte> dump, std::span<const DumpedName> names) {
  const auto directory = directory_of(dump);
  if (!directory) return std::nullopt;
  const auto& streams = directory->streams;
  const auto room = std::ranges::find(streams, kNamesRoomStream, &Stream::kind);
  if (room == streams.end()) return std::nullopt;
  const bool has_names = std::ranges::find(streams, std::uint32_t{kThreadNames}, &Stream::kind) != streams.end();
  Values list(room->offset), entry(0);
  put_entry(entry, has_names ? Stream{} : put_names(list, names));
  if (list.bytes.size() > room->bytes) return std::nullopt;
  const auto place = static_cast<std::uint64_t>(room - streams.begin());
  return NamesChange{std::move(list.bytes), std::move(entry.bytes), room->offset,
                     directory->at + place * kDirectoryBytes};
}

}  // namespace mixwalk
