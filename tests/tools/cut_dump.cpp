// Cuts a dump down to what a look at some of its threads reads: cut_dump FULL.dmp CUT.dmp THREAD…
//
// The corpora of the fuzz targets have such pieces. The metadata of large assemblies, which are read as a whole, are
// left out, so their methods have no names.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/builders/dump_builder.h"
#include "unmanaged/minidump/mapped_file.h"
#include "walker/clr/contracts/open_contracts.h"
#include "walker/clr/dac_search.h"
#include "walker/locks/native_waits.h"
#include "walker/outside/target_snapshot.h"
#include "walker/target/dump_target.h"
#include "walker/target/runtime_version.h"

namespace {

using namespace mixwalk;

// Keeps what is read, in pieces of kPiece bytes. Reads of whole pages fail, so that a PageCache asks for exactly the
// bytes that are needed.
class Recorder final : public MemoryReader {
 public:
  static constexpr std::uint64_t kPiece = 16;

  explicit Recorder(const MemoryReader& memory) : memory_(memory) {}

  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    constexpr std::size_t kPage = PageCache::kPageBytes, kMost = 0x8000;
    if (address % kPage == 0 && bytes % kPage == 0) return false;
    if (!memory_.read(address, into, bytes)) return false;
    if (bytes <= kMost) keep(address, bytes);
    return true;
  }
  void keep(std::uint64_t address, std::uint64_t bytes) const {
    if (bytes == 0) return;
    for (std::uint64_t at = address / kPiece; at <= (address + bytes - 1) / kPiece; ++at) pieces_.insert(at);
  }

  void leave_out(std::uint64_t begin, std::uint64_t end) {
    pieces_.erase(pieces_.lower_bound(begin / kPiece), pieces_.lower_bound(end / kPiece));
  }
  // Adds to the dump what was read. Pieces that adjoin are one.
  void add_to(test::DumpBuilder& dump) const {
    for (auto piece = pieces_.begin(); piece != pieces_.end();) {
      const std::uint64_t begin = *piece;
      std::vector<std::byte> bytes;
      for (; piece != pieces_.end() && *piece == begin + bytes.size() / kPiece; ++piece) {
        std::byte part[kPiece];
        if (!memory_.read(*piece * kPiece, part, kPiece)) break;
        bytes.insert(bytes.end(), part, part + kPiece);
      }
      if (bytes.empty()) {
        ++piece;
        continue;
      }
      dump.memory(begin * kPiece, std::move(bytes));
    }
  }

 private:
  const MemoryReader& memory_;
  mutable std::set<std::uint64_t> pieces_;  // by address / kPiece
};

// The threads that are kept, and their memory.
class Part final : public Target {
 public:
  Part(DumpTarget& whole, const std::set<std::uint32_t>& kept) : whole_(whole), recorder_(whole.memory()) {
    for (const TargetThread& thread : whole.threads()) {
      if (kept.contains(thread.os_id)) threads_.push_back(thread);
    }
    find_runtime(whole.modules(), recorder_);
  }

  const Process& process() const noexcept override { return whole_.process(); }
  const Runtime& runtime() const noexcept override { return whole_.runtime(); }
  std::uint64_t unix_time_ms() const noexcept override { return whole_.unix_time_ms(); }
  std::span<const Module> modules() const noexcept override { return whole_.modules(); }
  std::span<const TargetThread> threads() const noexcept override { return threads_; }
  const MemoryReader& memory() const noexcept override { return recorder_; }
  OutsideMemory& outside() noexcept override { return whole_.outside(); }
  void capture(const TargetThread& thread, RawSample& sample) override {
    whole_.capture(thread, sample);
    if (sample.stack.bytes().empty()) return;
    const auto bytes = sample.stack.bytes();
    test::DumpBuilder::RegisterValues registers{};
    std::ranges::copy(sample.context.general, registers.begin());
    registers.back() = sample.context.rip;
    captured_[thread.os_id] = {.id = thread.os_id, .stack = sample.stack.begin(), .stack_bytes = bytes.size(),
                               .registers = registers, .name = thread.name};
    recorder_.keep(sample.stack.begin(), bytes.size());
  }

  // With the runtime, and the images that the frames are in.
  std::vector<std::byte> dump(const Snapshot& snapshot) {
    std::set<std::uint64_t> bases;
    if (const Module* const runtime = runtime_image(modules(), memory())) bases.insert(runtime->base);
    for (const Thread& thread : snapshot.threads) {
      for (const StackFrame& frame : thread.stack.frames) {
        if (frame.module != Frame::kNone) bases.insert(snapshot.modules[static_cast<std::size_t>(frame.module)].base);
      }
    }
    test::DumpBuilder dump;
    for (const Module& module : modules()) {
      if (bases.contains(module.base)) {
        dump.module(module.base, module.size, module.timestamp, module.path);
      } else {
        recorder_.leave_out(module.base, module.base + module.size);
      }
    }
    for (const auto& [id, thread] : captured_) dump.thread(thread);
    recorder_.add_to(dump);
    return dump.build();
  }

 private:
  DumpTarget& whole_;
  Recorder recorder_;
  std::vector<TargetThread> threads_;
  std::map<std::uint32_t, test::DumpBuilder::ThreadOf> captured_;
};

}  // namespace

int main(int count, char** values) {
  if (count < 4) {
    std::fprintf(stderr, "usage: cut_dump FULL.dmp CUT.dmp THREAD...\n");
    return 2;
  }
  const MappedFile file(values[1]);
  const Minidump dump = Minidump::parse(file);
  if (dump.error() != MinidumpError::none) {
    std::fprintf(stderr, "cut_dump: %s cannot be read\n", values[1]);
    return 1;
  }
  std::set<std::uint32_t> kept;
  for (int i = 3; i < count; ++i) kept.insert(static_cast<std::uint32_t>(std::strtoul(values[i], nullptr, 10)));
  NoImageFiles none;
  DiskImages disk(none, none, {});
  DumpTarget whole(dump, disk);
  Part part(whole, kept);
  const OpenedClr clr = open_contracts(part, RuntimeSource::contracts);
  Snapshot snapshot = target_snapshot(part, clr.questions.get(), clr.obstacle, {});
  add_native_locks(snapshot, part);
  const std::vector<std::byte> cut = part.dump(snapshot);
  std::ofstream out(values[2], std::ios::binary);
  out.write(reinterpret_cast<const char*>(cut.data()), static_cast<std::streamsize>(cut.size()));
  out.close();
  if (!out) {
    std::fprintf(stderr, "cut_dump: %s cannot be written\n", values[2]);
    return 1;
  }
  std::printf("%zu threads, %zu bytes\n", snapshot.threads.size(), cut.size());
}
