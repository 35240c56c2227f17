#include "tests/bench/program.h"

#include <windows.h>

#include <psapi.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "tests/bench/measurements.h"
#include "tests/support/utf8_path.h"
#include "unmanaged/win/utf8.h"

namespace mixwalk::bench {
namespace {

std::vector<std::string> command_line(const std::vector<std::string>& options) {
  std::vector<std::string> arguments = {fixture("bench.exe")};
  arguments.insert(arguments.end(), options.begin(), options.end());
  return arguments;
}

}  // namespace

bool Options::wants(const std::string& section) const {
  return only.empty() || std::find(only.begin(), only.end(), section) != only.end();
}

Program::Program(const std::vector<std::string>& options) : child_(command_line(options)) {
  if (!child_.read_line().value_or("").starts_with("READY")) {
    throw std::runtime_error("bench.exe did not start");
  }
}

Program::~Program() {
  child_.write_line("STOP");
  child_.wait(10'000);
}

double Program::rate() {
  child_.write_line("COUNT");
  std::istringstream line(child_.read_line().value_or(""));
  std::string word;
  double units = 0, ns = 0;
  if (!(line >> word >> units >> ns >> cpu_ns_)) throw std::runtime_error("bench.exe has ended");
  const double rate = (units - units_) * 1e9 / (ns - ns_);
  units_ = units;
  ns_ = ns;
  return rate;
}

void Program::rest() {
  child_.write_line("REST");
  child_.read_line();
}

MeasuredRun measured_run(const std::vector<std::string>& command) {
  using namespace std::chrono;
  constexpr DWORD kProgramMs = 300'000;
  const auto begun = steady_clock::now();
  ChildProcess program(command);
  MeasuredRun result;
  std::atomic<bool> ended{false};
  // Wine gives no information about a process that has ended, so the memory is read while the program runs.
  std::thread watcher([&] {
    PROCESS_MEMORY_COUNTERS memory{};
    for (; !ended; Sleep(5)) {
      if (!GetProcessMemoryInfo(program.handle(), &memory, sizeof memory)) continue;
      result.memory_mib = std::max(result.memory_mib, static_cast<double>(memory.PeakWorkingSetSize) / (1 << 20));
    }
  });
  result.out = program.read_rest();
  ended = true;
  watcher.join();
  if (program.wait(kProgramMs) != 0u) throw std::runtime_error(command.front() + " failed");
  result.ms = duration<double, std::milli>(steady_clock::now() - begun).count();
  return result;
}

Rows read_rows(const std::string& file) {
  Rows rows;
  std::ifstream in{utf8_path(file)};
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string key;
    words >> key;
    auto& row = rows[key].emplace_back();
    for (std::string word; words >> word;) row.push_back(word);
  }
  return rows;
}

std::string rows_file() {
  const std::string file = temporary_file("bench.rows");
  SetEnvironmentVariableW(to_utf16(kFileVariable).c_str(), to_utf16(file).c_str());
  return file;
}

}  // namespace mixwalk::bench
