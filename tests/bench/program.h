#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/support/win/child_process.h"

namespace mixwalk::bench {

// How long one visit of the bench may take.
inline constexpr std::uint32_t kVisitMs = 300'000;

struct Options {
  bool quick = false;             // whether it runs at all, not what it says
  std::vector<std::string> only;  // sections; empty: all
  bool wants(const std::string& section) const;
};

// bench.exe (fixtures/README.md), started; throws where it does not come up.
class Program {
 public:
  explicit Program(const std::vector<std::string>& options);
  ~Program();

  std::uint32_t id() const noexcept { return child_.id(); }
  bool running() const { return child_.running(); }
  // Units of work since the call before, a second. The first call gives nothing of use.
  double rate();
  // CPU time of the whole process, at the last rate(). (Wine 8 tells a process only its own times.)
  double cpu_seconds() const noexcept { return cpu_ns_ / 1e9; }
  // Nobody works until the next rate().
  void rest();

 private:
  ChildProcess child_;
  double units_ = 0, ns_ = 0, cpu_ns_ = 0;
};

// The output of mixwalk_bench.dll (measurements.h): for each first word, the rest of each row.
using Rows = std::map<std::string, std::vector<std::vector<std::string>>>;
Rows read_rows(const std::string& file);
// The file that programs started from now on name to the DLL.
std::string rows_file();

// The sections of the table. Each prints itself.
void show_frozen_times(const Options& options);
void show_scaling(const Options& options);
void show_symbolising(const Options& options);
void show_record_phases(const Options& options);
void show_throughput(const Options& options);
void show_dump_files(const Options& options);

}  // namespace mixwalk::bench
