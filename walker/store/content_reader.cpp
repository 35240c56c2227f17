#include "walker/store/content_reader.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "walker/base/checked_protozero.h"
#include "walker/store/layout.h"
#include "walker/store/nonsense.h"
#include "walker/store/table_rows.h"

namespace mixwalk {
namespace {

using layout::Chunk, layout::Footer, layout::Header;
using protozero::pbf_message;

// Reads one record. Every error of protozero gives the same reason.
template <class Read>
std::string_view reason(Read read) {
  try {
    read();
    return {};
  } catch (const Nonsense& nonsense) {
    return nonsense.why;
  } catch (const protozero::exception&) {
    return "it is no protobuf message";
  } catch (const std::invalid_argument&) {
    return "a field has another type";
  }
}

template <class Field>
pbf_message<Field> message_of(std::string_view content) {
  return pbf_message<Field>(protozero::data_view(content.data(), content.size()));
}

template <class Value>
Value& add(std::vector<Value>& table, std::size_t limit, const char* why) {
  require(table.size() < limit, why);
  return table.emplace_back();
}

// A packed column of a chunk, which is walked together with others of the same length.
template <class Iterator>
class Column {
 public:
  void set(const pbf_message<Chunk>& in, protozero::iterator_range<Iterator> range) {
    require(in.has_wire_type(protozero::pbf_wire_type::length_delimited), "a column is not packed");
    require(rows_ == 0, "a column comes twice");
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
  Uint32Column sample_thread, sample_stack, sample_detail;
  Sint64Column sample_value;
  std::vector<ThreadName> thread_names;
};

Columns get_tables(pbf_message<Chunk> in, Recording& recording, TableRoom& room) {
  Columns columns;
  while (in.next()) {
    switch (in.tag()) {
      case Chunk::module:
        add(recording.modules, layout::kMaxModules, "there are too many modules") =
            get_module(in.get_message());
        break;
      case Chunk::assembly:
        add(recording.assemblies, layout::kMaxAssemblies, "there are too many assemblies") =
            get_assembly(in.get_message());
        break;
      case Chunk::thread:
        add(recording.threads, layout::kMaxThreads, "there are too many threads") =
            get_thread(in.get_message());
        break;
      case Chunk::thread_name:
        add(columns.thread_names, layout::kMaxThreads, "there are too many names of threads") =
            get_thread_name(in.get_message());
        break;
      case Chunk::detail:
        add(recording.details, layout::kMaxDetails, "there are too many details") = in.get_bytes();
        break;
      case Chunk::frame:
        add(recording.frames, layout::kMaxFrames, "there are too many frames") =
            get_frame(in.get_message());
        break;
      case Chunk::node_caller: columns.node_caller.set(in, in.get_packed_uint32()); break;
      case Chunk::node_frame: columns.node_frame.set(in, in.get_packed_sint32()); break;
      case Chunk::sample_time: columns.sample_time.set(in, in.get_packed_uint64()); break;
      case Chunk::sample_thread: columns.sample_thread.set(in, in.get_packed_uint32()); break;
      case Chunk::sample_stack: columns.sample_stack.set(in, in.get_packed_uint32()); break;
      case Chunk::sample_value: columns.sample_value.set(in, in.get_packed_sint64()); break;
      case Chunk::sample_detail: columns.sample_detail.set(in, in.get_packed_uint32()); break;
      case Chunk::lock: recording.locks.push_back(get_lock(in.get_message(), room)); break;
      case Chunk::earlier_dump:
        add(recording.earlier_dumps, layout::kMaxEarlierDumps, "there are too many dumps") =
            get_earlier_dump(in.get_message(), room);
        break;
      case Chunk::locks_missing: recording.locks_missing = in.get_bytes(); break;
      case Chunk::locks_known:
        if (in.get_uint64() != 0) recording.locks_missing.clear();
        break;
      case Chunk::unasked: recording.unasked = in.get_bytes(); break;
      case Chunk::some_threads: recording.some_threads = in.get_uint64() != 0; break;
      case Chunk::duration_ns: recording.duration_ns = in.get_uint64(); break;
      case Chunk::dropped: recording.dropped = in.get_uint64(); break;
      default: in.skip();
    }
  }
  return columns;
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

// No sample may be older than `before`.
void add_samples(Columns& columns, Recording& recording, std::uint64_t before) {
  const std::size_t rows = columns.sample_time.rows();
  const bool detailed = columns.sample_detail.rows() != 0;
  require(columns.sample_thread.rows() == rows && columns.sample_stack.rows() == rows &&
              columns.sample_value.rows() == rows &&
              (!detailed || columns.sample_detail.rows() == rows),
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
    recording.samples.push_back(sample);
  }
}

}  // namespace

std::string_view ContentReader::read_header(std::string_view content) {
  return reason([&] {
    std::uint64_t version = 0;
    auto in = message_of<Header>(content);
    while (in.next()) {
      switch (in.tag()) {
        case Header::version: version = in.get_uint64(); break;
        case Header::tool: recording_.tool_version = in.get_bytes(); break;
        case Header::unix_time_ms: recording_.unix_time_ms = in.get_uint64(); break;
        case Header::period_ns: recording_.period_ns = in.get_uint64(); break;
        case Header::event:
          recording_.event = checked(in.get_uint64(), layout::kLastEvent);
          break;
        case Header::engine:
          recording_.engine = checked(in.get_uint64(), layout::kLastEngine);
          break;
        case Header::process: recording_.process = get_process(in.get_message()); break;
        case Header::runtime: recording_.runtime = get_runtime(in.get_message()); break;
        default: in.skip();
      }
    }
    // A chunk may overwrite this.
    if (recording_.event == SampleEvent::dump) recording_.locks_missing = "the file does not say";
    require(version != 0, "it has no version");
    require(version <= layout::kVersion, "a later version of mixwalk wrote it");
  });
}

std::string_view ContentReader::read_chunk(std::string_view content) {
  return reason([&] {
    const std::size_t old_frames = recording_.frames.size();
    Columns columns = get_tables(message_of<Chunk>(content), recording_, room_);
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
  return reason([&] {
    recording_.duration_ns = recording_.dropped = 0;
    auto in = message_of<Footer>(content);
    while (in.next()) {
      switch (in.tag()) {
        case Footer::duration_ns: recording_.duration_ns = in.get_uint64(); break;
        case Footer::dropped: recording_.dropped = in.get_uint64(); break;
        default: in.skip();
      }
    }
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
