// Reads arbitrary bytes as a minidump: the reader must end, and its statements about memory must be consistent. If
// memory is added, the dump must have the same threads.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "unmanaged/image/data_directory.h"
#include "unmanaged/minidump/dump_memory.h"
#include "unmanaged/minidump/memory_addition.h"
#include "unmanaged/minidump/minidump_layout.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

template <class Piece>
void require_disjoint(std::span<const Piece> pieces) {
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    require(pieces[i].bytes != 0 && pieces[i].bytes - 1 <= UINT64_MAX - pieces[i].begin);
    if (i == 0) continue;
    require(pieces[i].begin > pieces[i - 1].begin);
    require(pieces[i].begin - pieces[i - 1].begin >= pieces[i - 1].bytes);
  }
}

// When memory is added to a file, its header changes, so a stream that lies in the header has other bytes afterwards.
bool has_stream_in_header(std::span<const std::byte> file) {
  mixwalk::FileReader reader(file);
  const std::uint64_t count = reader.at<std::uint32_t>(8), directory = reader.at<std::uint32_t>(12);
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(count, mixwalk::minidump::kMaxStreams); ++i) {
    const std::uint64_t entry = directory + i * mixwalk::minidump::kDirectoryBytes;
    if (reader.at<std::uint32_t>(entry + 8) < mixwalk::minidump::kHeaderBytes) return true;
  }
  return false;
}

void add_to(std::span<const std::byte> file, std::size_t threads) {
  if (has_stream_in_header(file)) return;
  const std::vector<mixwalk::DumpedRange> ranges = {{0x5000, 16}};
  const auto addition = mixwalk::add_memory(file, file.size(), ranges, {});
  if (!addition) return;
  std::vector<std::byte> whole(file.begin(), file.end());
  whole.insert(whole.end(), addition->tables.begin(), addition->tables.end());
  whole.insert(whole.end(), 16, std::byte{0x5A});
  std::ranges::copy(addition->header, whole.begin());
  const mixwalk::Minidump dump = mixwalk::Minidump::parse(whole);
  // A location that was beyond the end of the file may now lie in the added part, so it has other bytes or is too
  // large.
  if (dump.error() == mixwalk::MinidumpError::none) require(dump.threads().size() == threads);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span file(reinterpret_cast<const std::byte*>(data), size);
  const mixwalk::Minidump dump = mixwalk::Minidump::parse(file);
  require(!mixwalk::to_string(dump.error()).empty());
  if (dump.error() != mixwalk::MinidumpError::none) return 0;
  const auto& exception = dump.exception();
  require(!dump.threads().empty() || (exception && exception->registers));
  if (exception) {
    require(exception->parameter_count <= mixwalk::MinidumpException::kMaxParameters);
    for (std::size_t i = exception->parameter_count; i < exception->parameters.size(); ++i) {
      require(exception->parameters[i] == 0);
    }
  }
  require(dump.unloaded().size() <= size / 24);
  add_to(file, dump.threads().size());
  require_disjoint(dump.memory());
  require_disjoint(dump.regions());
  const mixwalk::DumpMemory memory(dump);
  mixwalk::DumpOutsideMemory outside(dump);
  std::byte bytes[64];
  for (const mixwalk::MinidumpRange& range : dump.memory()) {
    require(range.offset <= size && range.bytes <= size - range.offset);
    const std::uint64_t last = range.begin + (range.bytes - 1);
    require(memory.read(range.begin, bytes, 1) && bytes[0] == file[range.offset]);
    require(memory.read(last, bytes, 1) && bytes[0] == file[range.offset + (range.bytes - 1)]);
    memory.read(last, bytes, sizeof bytes);
    memory.read_up_to(range.begin - 8, bytes, sizeof bytes);
    outside.kind(range.begin);
  }
  for (const mixwalk::MinidumpRegion& region : dump.regions()) outside.kind(region.begin + (region.bytes - 1));
  return 0;
}
