#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/support/win/child_process.h"

namespace mixwalk::bench {

// The time limit for one visit of the bench.
inline constexpr std::uint32_t kVisitMs = 300'000;

struct Options {
  bool quick = false;             // checks only whether everything runs; the results do not matter
  std::vector<std::string> only;  // sections; all sections if empty
  bool wants(const std::string& section) const;
};

// bench.exe (fixtures/README.md), started. The constructor throws if the program does not get ready.
class Program {
 public:
  explicit Program(const std::vector<std::string>& options);
  ~Program();

  std::uint32_t id() const noexcept { return child_.id(); }
  bool running() const { return child_.running(); }
  // Returns the units of work per second since the call before. The result of the first call has no meaning.
  double rate();
  // The CPU time of the whole process at the last rate(). (Wine 8 gives a process only its own times.)
  double cpu_seconds() const noexcept { return cpu_ns_ / 1e9; }
  // The program's threads rest until the next rate().
  void rest();

 private:
  ChildProcess child_;
  double units_ = 0, ns_ = 0, cpu_ns_ = 0;
};

// One run of a program, from its start to its end.
struct MeasuredRun {
  double ms = 0;
  double memory_mib = 0;  // the maximum
  std::string out;
};
// Throws if the program fails.
MeasuredRun measured_run(const std::vector<std::string>& command);

// The output of mixwalk_bench.dll (measurements.h): for each first word, the rest of each row.
using Rows = std::map<std::string, std::vector<std::vector<std::string>>>;
Rows read_rows(const std::string& file);
// The file that the environment of programs started from now on names to the DLL.
std::string rows_file();

// The sections of the table. Each function prints its section.
void show_frozen_times(const Options& options);
void show_scaling(const Options& options);
void show_symbolising(const Options& options);
void show_record_phases(const Options& options);
void show_throughput(const Options& options);
void show_dump_files(const Options& options);
void show_written_dumps(const Options& options);
void show_waits(const Options& options);
void show_frozen_outside(const Options& options);
void show_task_graph(const Options& options);
// The program that show_written_dumps() writes. Returns its exit code.
int hold_memory(std::size_t mib);

}  // namespace mixwalk::bench
