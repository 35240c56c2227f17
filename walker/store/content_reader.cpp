#include "walker/store/content_reader.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "walker/store/layout.h"
#include "walker/store/table_rows.h"
#include "walker/wire/message_io.h"

namespace mixwalk {
namespace {

namespace chunk = layout::chunk;

// A packed column of a chunk, which is walked together with others of the same length.
template <class Iterator>
class Column {
 public:
  void read(MessageIO& io, MessageIO::Number number) {
    std::string_view content;
    if (!io.packed_varints(number, content)) return;
    require(rows_ == 0, "a column comes twice");
    const char* const end = content.data() + content.size();
    const protozero::iterator_range<Iterator> range(Iterator(content.data(), end), Iterator(end, end));
    at_ = range.begin();
    rows_ = range.size();
  }
  std::size_t rows() const noexcept { return rows_; }
  auto next() { return *at_++; }

 private:
  Iterator at_;
  std::size_t rows_ = 0;
};

using Uint32Column = Column<protozero::pbf_reader::const_uint32_iterator>;
using Sint32Column = Column<protozero::pbf_reader::const_sint32_iterator>;
using Uint64Column = Column<protozero::pbf_reader::const_uint64_iterator>;
using Sint64Column = Column<protozero::pbf_reader::const_sint64_iterator>;

// The fields of a chunk come in any order, so fields that refer to others are read once all of them are there.
struct Columns {
  Uint32Column node_caller;
  Sint32Column node_frame;
  Uint64Column sample_time;
  Uint32Column sample_thread, sample_stack, sample_detail, sample_standing;
  Sint64Column sample_value;
  std::vector<ThreadName> thread_names;
};

void read_tables(MessageIO& io, Columns& columns, Recording& recording, TableRoom& room) {
  io.messages(chunk::module, recording.modules, layout::kMaxModules, row_fields, "there are too many modules");
  io.repeated(
      chunk::assembly, recording.assemblies, layout::kMaxAssemblies,
      [&](Assembly& assembly) {
        assembly.optimised = false;  // a missing field means 0
        io.message(chunk::assembly, assembly, row_fields);
      },
      "there are too many assemblies");
  io.messages(chunk::thread_name, columns.thread_names, layout::kMaxThreads, row_fields,
              "there are too many names of threads");
  io.messages(chunk::thread, recording.threads, layout::kMaxThreads, row_fields, "there are too many threads");
  io.repeated(
      chunk::detail, recording.details, layout::kMaxDetails, [&](std::string& text) { io.string(chunk::detail, text); },
      "there are too many details");
  lock_rows(io, chunk::lock, recording.locks, room);
  io.repeated(
      chunk::earlier_dump, recording.earlier_dumps, layout::kMaxEarlierDumps,
      [&](Recording::EarlierDump& dump) {
        io.nested(chunk::earlier_dump, [&](MessageIO& inner) { row_fields(inner, dump, room); });
      },
      "there are too many dumps");
  io.string(chunk::unasked, recording.unasked);
  io.message(chunk::crash, recording.crash, row_fields);
  async_row(io, chunk::async, recording.async, room);
  handled_rows(io, chunk::handled, recording.handled, room);
  io.varint(chunk::some_threads, recording.some_threads);
  io.string(chunk::locks_missing, recording.locks_missing);
  bool known = false;
  if (io.varint(chunk::locks_known, known) && known) recording.locks_missing.clear();
  io.repeated(
      chunk::frame, recording.frames, layout::kMaxFrames,
      [&](Frame& frame) {
        frame.kind = FrameKind{};  // a missing field means 0
        io.message(chunk::frame, frame, row_fields);
      },
      "there are too many frames");
  columns.node_caller.read(io, chunk::node_caller);
  columns.node_frame.read(io, chunk::node_frame);
  columns.sample_time.read(io, chunk::sample_time);
  columns.sample_thread.read(io, chunk::sample_thread);
  columns.sample_stack.read(io, chunk::sample_stack);
  columns.sample_value.read(io, chunk::sample_value);
  columns.sample_detail.read(io, chunk::sample_detail);
  columns.sample_standing.read(io, chunk::sample_standing);
  io.varint(chunk::duration_ns, recording.duration_ns);
  io.varint(chunk::dropped, recording.dropped);
}

void add_nodes(Columns& columns, Recording& recording, std::vector<std::uint32_t>& depths) {
  const std::size_t rows = columns.node_caller.rows();
  require(columns.node_frame.rows() == rows, "the columns of the nodes differ in length");
  require(rows <= layout::kMaxNodes - recording.nodes.size(), "there are too many nodes");
  std::uint32_t frame = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto index = static_cast<std::uint32_t>(recording.nodes.size());
    const std::uint32_t caller = columns.node_caller.next();
    require(caller <= index, "a node's caller does not come before it");
    const std::uint32_t parent = caller == 0 ? Recording::kNone : index - caller;
    frame += static_cast<std::uint32_t>(columns.node_frame.next());
    require(frame < recording.frames.size(), "a node's frame does not exist");
    const std::uint32_t depth = caller == 0 ? 1 : depths[parent] + 1;
    require(depth <= layout::kMaxDepth, "a stack is too deep");
    recording.nodes.push_back({.parent = parent, .frame = frame});
    depths.push_back(depth);
  }
}

// An index from the number in a column, in which 0 means none.
std::uint32_t index_or_none(std::uint32_t plus_one, std::size_t size, const char* why) {
  require(plus_one <= size, why);
  return plus_one - 1;
}
static_assert(std::uint32_t{0} - 1 == Recording::kNone);

// A later mixwalk may know more of them.
Standing standing_of(std::uint32_t number) {
  return number <= static_cast<std::uint32_t>(kLastStanding) ? static_cast<Standing>(number) : Standing::unknown;
}

// No sample may be older than `before`.
void add_samples(Columns& columns, Recording& recording, std::uint64_t before) {
  const std::size_t rows = columns.sample_time.rows();
  const bool detailed = columns.sample_detail.rows() != 0, standing = columns.sample_standing.rows() != 0;
  require(columns.sample_thread.rows() == rows && columns.sample_stack.rows() == rows &&
              columns.sample_value.rows() == rows &&
              (!detailed || columns.sample_detail.rows() == rows) &&
              (!standing || columns.sample_standing.rows() == rows),
          "the columns of the samples differ in length");
  require(rows <= layout::kMaxSamples - recording.samples.size(), "there are too many samples");
  std::uint64_t time = 0, value = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const std::uint64_t step = columns.sample_time.next();
    require(step <= std::numeric_limits<std::uint64_t>::max() - time, "time goes back");
    time += step;
    require(time >= before, "time goes back");
    value += static_cast<std::uint64_t>(columns.sample_value.next());
    Recording::Sample sample{.time_ns = time, .value = value};
    sample.thread = columns.sample_thread.next();
    require(sample.thread < recording.threads.size(), "a sample's thread does not exist");
    sample.stack = index_or_none(columns.sample_stack.next(), recording.nodes.size(),
                                 "a sample's stack does not exist");
    if (detailed) {
      sample.detail = index_or_none(columns.sample_detail.next(), recording.details.size(),
                                    "a sample's detail does not exist");
    }
    if (standing) sample.standing = standing_of(columns.sample_standing.next());
    recording.samples.push_back(sample);
  }
}

}  // namespace

std::string_view ContentReader::read_header(std::string_view content) {
  return fault_of([&] {
    std::uint64_t version = 0;
    // The version is read alone first, because the other fields of a later version may be nonsense to this one.
    MessageIO::read(content, [&](MessageIO& io) { io.varint(1, version, 0); });
    require(version <= layout::kVersion, layout::kWrittenLater);
    MessageIO::read(content, [&](MessageIO& io) { header_fields(io, version, recording_); });
    // A chunk may overwrite this.
    if (recording_.event == SampleEvent::dump) recording_.locks_missing = "the file does not say";
    require(version != 0, "it has no version");
  });
}

std::string_view ContentReader::read_chunk(std::string_view content) {
  return fault_of([&] {
    const std::size_t old_frames = recording_.frames.size();
    Columns columns;
    MessageIO::read(content, [&](MessageIO& io) { read_tables(io, columns, recording_, room_); });
    for (ThreadName& name : columns.thread_names) {
      require(name.thread < recording_.threads.size(), "a renamed thread does not exist");
      recording_.threads[name.thread].name = std::move(name.name);
    }
    const auto modules = static_cast<std::int64_t>(recording_.modules.size());
    const auto assemblies = static_cast<std::int64_t>(recording_.assemblies.size());
    for (std::size_t i = old_frames; i < recording_.frames.size(); ++i) {
      require(recording_.frames[i].module < modules, "a frame's module does not exist");
      require(recording_.frames[i].il.assembly < assemblies, "a frame's assembly does not exist");
    }
    add_nodes(columns, recording_, depths_);
    const auto& samples = recording_.samples;
    add_samples(columns, recording_, samples.empty() ? last_time_ns_ : samples.back().time_ns);
  });
}

std::string_view ContentReader::read_footer(std::string_view content) {
  return fault_of([&] {
    recording_.duration_ns = recording_.dropped = 0;
    MessageIO::read(content, [&](MessageIO& io) { footer_fields(io, recording_); });
  });
}

void ContentReader::clear_samples() noexcept {
  if (recording_.samples.empty()) return;
  last_time_ns_ = recording_.samples.back().time_ns;
  recording_.samples.clear();
}

Recording ContentReader::take() {
  if (!recording_.samples.empty()) {
    recording_.duration_ns = std::max(recording_.duration_ns, recording_.samples.back().time_ns);
  }
  return std::move(recording_);
}

}  // namespace mixwalk
