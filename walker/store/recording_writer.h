#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "walker/base/byte_sink.h"
#include "walker/model/recording.h"

namespace mixwalk {

// Writes a recording as a .mixwalk file (docs/format.md) while the recording goes on. After every call the sink has
// whole records: a file that ends there, because its writer was killed, is readable. Each function returns false when
// the sink refused or a limit of the format was reached; problem() then says which, and nothing more is written, except
// for the footer after a limit.
class RecordingWriter {
 public:
  explicit RecordingWriter(ByteSink& sink) : sink_(sink) {}

  // To be called first: writes what is known when a recording begins. Its tables are not written.
  bool begin(const Recording& header);

  // Writes what is new since the last call. The tables may only have grown, except for the names of threads; frames are
  // written once, so their names must be known by now.
  bool append(const Recording& recording);

  // To be called when the caller has emptied `samples` after an append, as a long recording does.
  void samples_cleared() noexcept { samples_ = 0; }

  // To be called last: appends what is new, then duration and dropped samples. A file without it counts as cut.
  bool end(const Recording& recording);

  // One line; empty if none, or the sink refused.
  std::string_view problem() const noexcept { return problem_; }

 private:
  bool within_limits(const Recording& recording);
  void add_tables(const Recording& recording);
  void add_locks(const Recording& recording);
  void add_frames(const Recording& recording);
  void add_nodes(const Recording& recording);
  void add_samples(const Recording& recording);
  void add_progress(const Recording& recording);
  void flush();       // what is in chunk_, if anything
  void flush_full();  // only if it is large enough
  bool write(std::string_view bytes);

  ByteSink& sink_;
  bool refused_ = false;  // by the sink
  std::string_view problem_;
  std::string chunk_;  // the content of the chunk that is being made

  // How much is written.
  std::size_t assemblies_ = 0, modules_ = 0, details_ = 0, locks_ = 0, frames_ = 0, nodes_ = 0, samples_ = 0;
  std::size_t earlier_dumps_ = 0;
  bool some_threads_ = false;                 // it is written
  std::optional<std::string> locks_missing_;  // nothing if it is not written
  std::uint64_t all_samples_ = 0;  // those that were cleared as well
  std::uint64_t duration_ns_ = 0, dropped_ = 0;
  std::vector<std::string> thread_names_;
  std::vector<std::uint32_t> depths_;  // of the nodes: how many frames to the root
};

}  // namespace mixwalk
