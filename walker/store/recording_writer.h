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
// whole records, so a file that ends there, because its writer was killed, is readable. Each function returns false if
// the sink refused or a limit of the format was reached. problem() then names the limit, and nothing more is written,
// except for the footer after a limit.
class RecordingWriter {
 public:
  explicit RecordingWriter(ByteSink& sink) : sink_(sink) {}

  // To be called first: writes the facts that are known when a recording begins. Its tables are not written.
  bool begin(const Recording& header);

  // Writes everything that is new since the last call. The tables may only have grown, except for the names of threads.
  // Frames are written once, so their names must be known by now.
  bool append(const Recording& recording);

  // To be called when the caller has emptied `samples` after an append, as a long recording does.
  void samples_cleared() noexcept { samples_ = 0; }

  // To be called last: appends everything that is new, then the duration and the dropped samples. A file without these
  // counts as cut.
  bool end(const Recording& recording);

  // The limit that was reached, in one line. Empty if none was reached, or if the sink refused.
  std::string_view problem() const noexcept { return problem_; }

 private:
  bool within_limits(const Recording& recording);
  template <class Row>
  void add_rows(std::uint32_t number, const std::vector<Row>& rows, std::size_t& written);
  void add_tables(const Recording& recording);
  void add_locks(const Recording& recording);
  void add_nodes(const Recording& recording);
  void add_samples(const Recording& recording);
  void add_progress(const Recording& recording);
  void flush();       // writes chunk_, if there is any
  void flush_full();  // writes chunk_ only if it is large enough
  bool write(std::string_view bytes);

  ByteSink& sink_;
  bool refused_ = false;  // whether the sink refused
  std::string_view problem_;
  std::string chunk_;  // the content of the chunk that is being made

  // How many rows of each table are already written.
  std::size_t assemblies_ = 0, modules_ = 0, threads_ = 0, details_ = 0, locks_ = 0, earlier_dumps_ = 0;
  std::size_t handled_ = 0;
  std::size_t frames_ = 0, nodes_ = 0, samples_ = 0;
  std::string unasked_;                       // the written text
  bool some_threads_ = false;                 // whether it is already written
  bool crash_ = false;                        // whether it is already written
  bool async_ = false;                        // the same
  std::optional<std::string> locks_missing_;  // the written text; nothing if none is written
  std::uint64_t all_samples_ = 0;  // including those that were cleared
  std::uint64_t duration_ns_ = 0, dropped_ = 0;
  std::vector<std::string> thread_names_;
  std::vector<std::uint32_t> depths_;  // of each node: how many frames there are to the root
};

// Writes a whole recording. Returns false also if the recording exceeds the format's limits.
bool write_store(const Recording& recording, ByteSink& sink);

}  // namespace mixwalk
