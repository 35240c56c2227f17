#include <windows.h>

#include <tlhelp32.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

#include "tests/bench/program.h"
#include "tests/bench/table.h"
#include "tests/end_to_end/recorded_file.h"
#include "unmanaged/win/unique_handle.h"
#include "walker/store/recording_reader.h"

namespace mixwalk::bench {
namespace {

constexpr double kLoss = 3;  // per cent, from the issue
constexpr int kThreads = 20;
constexpr DWORD kStartMs = 60'000;
constexpr DWORD kSpareMs = 1500;  // a recording reports its start, but not when its work begins

// One stretch of time under one profiler, or under none.
struct Stretch {
  double rate = 0;     // units of work a second
  double per_cpu = 0;  // units of work per second of CPU time of the program and the profiler in it
  double samples = 0;  // per second, all threads together
  double bytes = 0;    // per sample, on the disk
};

constexpr DWORD kSettleMs = 500;

// Returns the time in units of 100 ns since 1601.
std::uint64_t system_time() {
  FILETIME time;
  GetSystemTimeAsFileTime(&time);
  return std::uint64_t{time.dwHighDateTime} << 32 | time.dwLowDateTime;
}

// `taken` is the number of samples that the profiler has taken so far. It is null if there is no profiler, or if the
// number is known only later.
Stretch watch(Program& program, DWORD ms, const std::atomic<std::uint64_t>* taken = nullptr) {
  program.rate();
  Sleep(kSettleMs);
  program.rate();
  const double cpu = program.cpu_seconds();
  const std::uint64_t before = taken != nullptr ? taken->load() : 0;
  Sleep(ms);
  const std::uint64_t samples = taken != nullptr ? *taken - before : 0;
  Stretch stretch{program.rate()};
  stretch.samples = static_cast<double>(samples) * 1000 / ms;
  stretch.per_cpu = stretch.rate * ms / 1000 / (program.cpu_seconds() - cpu);
  // Profilers are started and ended while the threads rest, because on a busy machine this takes many seconds if the
  // threads work.
  program.rest();
  return stretch;
}

Stretch watch_nobody(Program& program, DWORD ms) { return watch(program, ms); }

// Waits until the file has bytes, which come once samples are taken.
void wait_for_bytes(const std::string& path) {
  for (const ULONGLONG end = GetTickCount64() + kStartMs; bytes_of(path).empty();) {
    if (GetTickCount64() >= end) throw std::runtime_error("nothing is recorded");
    Sleep(50);
  }
}

std::uint64_t samples_between(const Recording& recording, std::uint64_t begin, std::uint64_t end) {
  constexpr std::uint64_t kUnixEpochMs = 11'644'473'600'000;
  std::uint64_t count = 0;
  for (const Recording::Sample& sample : recording.samples) {
    const std::uint64_t time =
        (recording.unix_time_ms + kUnixEpochMs) * 10'000 + sample.time_ns / 100;
    count += time >= begin && time <= end;
  }
  return count;
}

Stretch watch_mixwalk(Program& program, DWORD ms, const std::string& mode,
                      const std::string& budget) {
  const std::string file = temporary_file("bench.mixwalk");
  remove_file(file);
  ChildProcess recorder({mixwalk_exe(), "record", "-p", std::to_string(program.id()), "-o", file,
                         "-r", "100", "--mode", mode, "--budget", budget, "-d",
                         std::to_string(ms + kSettleMs + kSpareMs) + "ms"});
  wait_for_bytes(file);
  const std::uint64_t begin = system_time();
  Stretch stretch = watch(program, ms);
  const std::uint64_t end = system_time();
  if (recorder.wait(kStartMs) != 0u) throw std::runtime_error("mixwalk record failed");
  const ReadRecording read = read_recording(bytes_of(file));
  if (!read.recording) throw std::runtime_error(read.error);
  stretch.samples = static_cast<double>(samples_between(*read.recording, begin, end)) * 1e7 /
                    static_cast<double>(end - begin);
  stretch.bytes = static_cast<double>(bytes_of(file).size()) /
                  static_cast<double>(read.recording->samples.size());
  return stretch;
}

Stretch watch_eventpipe(Program& program, DWORD ms) {
  const std::string file = temporary_file("bench.nettrace");
  ChildProcess reader({fixture("eventpipe.exe"), std::to_string(program.id()), file});
  if (reader.read_line() != "READY") throw std::runtime_error("no EventPipe session");
  const std::uint64_t begin = system_time();
  reader.write_line("");
  Stretch stretch = watch(program, ms);
  reader.write_line("");
  const std::uint64_t end = system_time();
  std::istringstream result(reader.read_line().value_or(""));
  std::string ok;
  double bytes = 0, samples = 0, between = 0;
  if (!(result >> ok >> bytes >> samples >> between)) {
    throw std::runtime_error("EventPipe's stream broke");
  }
  reader.wait(kStartMs);
  stretch.samples = between * 1e7 / static_cast<double>(end - begin);
  stretch.bytes = bytes / samples;
  return stretch;
}

std::uint64_t cpu_time_of(HANDLE thread) {
  FILETIME created, ended, kernel, user;
  if (!GetThreadTimes(thread, &created, &ended, &kernel, &user)) return 0;
  const auto value = [](const FILETIME& time) { return std::uint64_t{time.dwHighDateTime} << 32 | time.dwLowDateTime; };
  return value(kernel) + value(user);
}

// Returns threads of a process; those that used most of the processor in the last half second come first.
std::vector<UniqueHandle> busiest_threads(DWORD process_id, std::size_t count) {
  const UniqueHandle snapshot(CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0));
  std::vector<std::pair<std::uint64_t, UniqueHandle>> threads;
  THREADENTRY32 entry{.dwSize = sizeof entry};
  for (BOOL more = Thread32First(snapshot.get(), &entry); more; more = Thread32Next(snapshot.get(), &entry)) {
    if (entry.th32OwnerProcessID != process_id) continue;
    UniqueHandle thread(OpenThread(THREAD_SUSPEND_RESUME | THREAD_GET_CONTEXT | THREAD_QUERY_INFORMATION, FALSE,
                             entry.th32ThreadID));
    if (!thread) continue;
    const std::uint64_t before = cpu_time_of(thread.get());
    threads.emplace_back(before, std::move(thread));
  }
  Sleep(kSettleMs);
  for (auto& [used, thread] : threads) used = cpu_time_of(thread.get()) - used;
  std::ranges::stable_sort(threads, std::greater(), [](const auto& thread) { return thread.first; });
  std::vector<UniqueHandle> busiest;
  for (auto& [used, thread] : threads) {
    if (busiest.size() < count) busiest.push_back(std::move(thread));
  }
  return busiest;
}

// The time that the system alone takes for the registers of all threads at once, again and again without a pause, with
// no part of mixwalk in the program. A profiler that suspends threads needs these calls for each sample.
Stretch watch_registers(Program& program, DWORD ms) {
  program.rate();  // the threads work from now on
  std::atomic<bool> stop{false};
  std::atomic<std::uint64_t> taken{0};
  const std::vector<UniqueHandle> threads = busiest_threads(program.id(), kThreads);
  std::thread reader([&] {
    alignas(16) CONTEXT registers;
    while (!stop) {
      for (const UniqueHandle& thread : threads) SuspendThread(thread.get());
      for (const UniqueHandle& thread : threads) {
        registers.ContextFlags = CONTEXT_FULL;
        taken += GetThreadContext(thread.get(), &registers) != FALSE;
      }
      for (const UniqueHandle& thread : threads) ResumeThread(thread.get());
    }
  });
  const Stretch stretch = watch(program, ms, &taken);
  stop = true;
  reader.join();
  return stretch;
}

struct Watcher {
  const char* name;
  std::function<Stretch(Program&, DWORD)> watch;
  std::vector<Stretch> stretches = {};
};

enum { kNobody, kEventPipe, kNobodyAgain, kWall, kCpu, kBudget, kRegisters, kWatchers };

double median_of(const Watcher& watcher, double Stretch::*value) {
  std::vector<double> values;
  for (const Stretch& stretch : watcher.stretches) values.push_back(stretch.*value);
  return median(std::move(values));
}

// In per cent of the part without a profiler in the same round, because the machine's other work changes between
// rounds.
double loss_of(const Watcher (&watchers)[kWatchers], int which, double Stretch::*value) {
  std::vector<double> losses;
  for (std::size_t round = 0; round < watchers[which].stretches.size(); ++round) {
    const double unwatched = (watchers[kNobody].stretches[round].*value +
                              watchers[kNobodyAgain].stretches[round].*value) /
                             2;
    losses.push_back(100 * (1 - watchers[which].stretches[round].*value / unwatched));
  }
  return median(std::move(losses));
}

void judge(const Watcher (&watchers)[kWatchers], const std::string& what, double Stretch::*value) {
  const double ours = loss_of(watchers, kWall, value);
  show_target(what + " under mixwalk wall", ours, kLoss, " %");
  show_target(what + " under mixwalk wall, and under EventPipe", ours,
              loss_of(watchers, kEventPipe, value), " %");
  show_target(what + " under mixwalk wall with --budget 3%", loss_of(watchers, kBudget, value),
              kLoss, " %");
}

// `interval` is the sampling interval for EventPipe, in the form of the runtime's configuration (milliseconds,
// hexadecimal); null means the default.
void compare(const Options& options, const char* work, std::vector<std::string> program_options,
             const char* interval, const char* asked) {
  SetEnvironmentVariableA("DOTNET_EventPipeThreadSamplingRate", interval);
  program_options.insert(program_options.end(), {"--work", std::to_string(kThreads)});
  Program program(program_options);
  SetEnvironmentVariableA("DOTNET_EventPipeThreadSamplingRate", nullptr);
  program.rest();
  Watcher watchers[] = {
      {"nobody", watch_nobody},
      {"eventpipe", watch_eventpipe},
      {"nobody again", watch_nobody},
      {"mixwalk wall", [](Program& p, DWORD ms) { return watch_mixwalk(p, ms, "wall", "0"); }},
      {"mixwalk cpu", [](Program& p, DWORD ms) { return watch_mixwalk(p, ms, "cpu", "0"); }},
      {"mixwalk 3%", [](Program& p, DWORD ms) { return watch_mixwalk(p, ms, "wall", "3%"); }},
      {"registers alone", watch_registers},
  };
  const DWORD ms = options.quick ? 300 : 2000;
  const int rounds = options.quick ? 1 : 6;
  for (int round = 0; round < rounds; ++round) {
    for (Watcher& watcher : watchers) watcher.stretches.push_back(watcher.watch(program, ms));
  }
  std::printf(
      "\nThroughput of %d threads that %s, %d rounds of %lu ms; mixwalk at 100 Hz, EventPipe at "
      "%s\n",
      kThreads, work, rounds, ms, asked);
  std::printf("  %-15s %10s %8s %14s %11s %14s %14s\n", "watched by", "units/s", "loss %",
              "loss % per CPU", "samples/s", "us CPU/sample", "bytes/sample");
  const double unwatched = median_of(watchers[kNobody], &Stretch::per_cpu);
  double cost[kWatchers] = {};
  for (int i = 0; i < kWatchers; ++i) {
    const Watcher& watcher = watchers[i];
    const double samples = median_of(watcher, &Stretch::samples);
    const double rate = median_of(watcher, &Stretch::rate);
    // How much more CPU time the same work took.
    const double more = rate / median_of(watcher, &Stretch::per_cpu) - rate / unwatched;
    cost[i] = samples == 0 ? 0 : more * 1e6 / samples;
    std::printf("  %-15s %10.0f %8.1f %14.1f %11.0f %14.1f %14.1f\n", watcher.name, rate,
                loss_of(watchers, i, &Stretch::rate), loss_of(watchers, i, &Stretch::per_cpu),
                samples, cost[i], median_of(watcher, &Stretch::bytes));
  }
  std::printf("  (what \"nobody\" and \"nobody again\" lose is the noise of this run)\n");
  // Units per second say little on a machine on which other programs also use the processors. Units per second of the
  // program's own CPU time do not depend on other programs.
  judge(watchers, "loss", &Stretch::rate);
  judge(watchers, "loss per CPU", &Stretch::per_cpu);
  const double wall = median_of(watchers[kWall], &Stretch::samples);
  if (wall > 0) {
    show_target("samples of EventPipe / of mixwalk wall", median_of(watchers[kEventPipe], &Stretch::samples) / wall, 1);
  }
}

}  // namespace

void show_throughput(const Options& options) {
  compare(options, "work all the time", {}, "A", "100 Hz");
  if (options.quick) return;
  compare(options, "work a fortieth of the time", {"--pause", "40"}, "A", "100 Hz");
  compare(options, "work all the time", {}, nullptr, "its default");
}

}  // namespace mixwalk::bench
