#include <windows.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "tests/bench/program.h"
#include "tests/bench/table.h"
#include "tests/builders/win/fake_snapshots.h"
#include "unmanaged/win/module_path.h"
#include "unmanaged/win/utf8.h"
#include "walker/base/win/tick_clock.h"
#include "walker/outside/writing/minidump_memory.h"
#include "walker/outside/writing/minidump_writer.h"

namespace mixwalk::bench {
namespace {

constexpr int kMiB = 256, kQuickMiB = 8;
constexpr std::size_t kPageBytes = 4096;

struct Written {
  double stood_ms = 0, all_ms = 0;  // until the process ran again; until the file was complete
  std::string why_no_clone;
};

Written write(const ChildProcess& process, WriterHooks hooks) {
  const std::string path = temporary_file("bench_written.dmp");
  Written result;
  {
    const UniqueHandle file(CreateFileW(to_utf16(path).c_str(), GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE,
                                        nullptr, CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr));
    const TickClock clock;
    const std::uint64_t begun = clock.now_ns();
    auto writer = MinidumpWriter::start(process.handle(), process.id(), file.get(), usual_memory_writer(),
                                        std::move(hooks));
    if (!writer) throw std::runtime_error(writer.failure().message);
    writer->wait(INFINITE);
    if (!writer->error().empty()) throw std::runtime_error(writer->error());
    result = {static_cast<double>(writer->frozen_ns()) / 1e6, static_cast<double>(clock.now_ns() - begun) / 1e6,
              writer->why_no_clone()};
  }
  remove_file(path);
  return result;
}

void show(const char* way, const std::vector<Written>& rounds) {
  std::vector<double> stood, all;
  for (const Written& round : rounds) {
    stood.push_back(round.stood_ms);
    all.push_back(round.all_ms);
  }
  const auto [least, most] = std::ranges::minmax(stood);
  std::printf("  %-44s stood for %8.1f ms (%.1f to %.1f); all took %8.1f ms\n", way, median(stood), least, most,
              median(all));
}

}  // namespace

// A program with this much memory, which waits. Run by the bench itself: mixwalk_bench --hold MIB.
int hold_memory(std::size_t mib) {
  const std::size_t bytes = mib << 20;
  void* const room = VirtualAlloc(nullptr, bytes, MEM_COMMIT | MEM_RESERVE, PAGE_READWRITE);
  auto* const memory = static_cast<volatile char*>(room);
  if (memory == nullptr) return 1;
  for (std::size_t at = 0; at < bytes; at += kPageBytes) memory[at] = static_cast<char>(at / kPageBytes);
  std::printf("READY\n");
  std::fflush(stdout);
  return std::getchar() == EOF;
}

// Measures how long a process stands for a dump file: if it is written itself, and if its clone is. Where the system
// cannot clone processes (Wine), functions stand for the system's, which take no time: what remains is what mixwalk
// does while the process stands.
void show_written_dumps(const Options& options) {
  const char* const wanted_mib = std::getenv("MIXWALK_BENCH_DUMP_MIB");
  const int mib = options.quick ? kQuickMiB : wanted_mib != nullptr ? std::atoi(wanted_mib) : kMiB;
  ChildProcess program({to_utf8(module_path(nullptr)), "--hold", std::to_string(mib)});
  if (!program.read_line().value_or("").starts_with("READY")) throw std::runtime_error("no memory to write");
  const int rounds = options.quick ? 1 : 3;
  std::vector<Written> itself, faked, cloned;
  std::string why_no_clone;
  for (int round = 0; round < rounds; ++round) {
    itself.push_back(write(program, {.snapshots = {}}));
    FakeSnapshots fake;
    faked.push_back(write(program, fake.hooks()));
    if (!faked.back().why_no_clone.empty()) throw std::runtime_error(faked.back().why_no_clone);
    if (!system_snapshot_functions()) continue;
    const Written clone = write(program, {});
    why_no_clone = clone.why_no_clone;
    if (why_no_clone.empty()) cloned.push_back(clone);
  }
  std::printf("\nA dump file of a process with %.0f MiB, %d rounds, medians\n",
              static_cast<double>(dumped_bytes(program.handle())) / (1 << 20), rounds);
  show("the process itself is written", itself);
  show("its clone, without the system's part", faked);  // and nothing is written
  if (!cloned.empty()) show("its clone", cloned);
  if (!why_no_clone.empty()) std::printf("  its clone: not written: %s\n", why_no_clone.c_str());
  program.write_line("STOP");
}

}  // namespace mixwalk::bench
