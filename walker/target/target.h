#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "unmanaged/step/memory_reader.h"
#include "unmanaged/step/outside_memory.h"
#include "walker/model/snapshot.h"
#include "walker/suspended/raw_sample.h"
#include "walker/suspended/thread_control.h"

namespace mixwalk {

// A thread of a process that is read from outside.
struct TargetThread {
  std::uint32_t os_id = 0;
  std::string name;       // UTF-8, the thread's description; empty if none, or unknown
  std::uint64_t teb = 0;  // address of its TEB; 0 if unknown
  // As Thread::created and Thread::cpu.
  std::uint64_t created = 0;
  std::optional<std::uint64_t> cpu = std::nullopt;
};

// A process that is read from outside: a dump, a live process, or a test's builder. No code of mixwalk runs in that
// process, and nothing is written to it. Not frozen-safe; one thread at a time.
class Target {
 public:
  virtual ~Target() = default;

  // The known facts for `Process`, and the time in milliseconds since 1970, or 0 if it is unknown.
  virtual const Process& process() const noexcept = 0;
  virtual std::uint64_t unix_time_ms() const noexcept = 0;
  // The .NET runtime in the process. It has no name if none was found.
  virtual const Runtime& runtime() const noexcept {
    static const Runtime kNone;
    return kNone;
  }
  // The images, sorted by base, disjoint. The paths are those of the target's loader. They come from the target, so
  // files are opened through LocalImageFiles only.
  virtual std::span<const Module> modules() const noexcept = 0;
  virtual std::span<const TargetThread> threads() const noexcept = 0;

  // Whether the image of modules() with this base is still the one that is loaded there now. A live process may unload
  // an image, and load another one in its place, after its images were listed.
  virtual bool is_still_loaded(std::uint64_t /*base*/) { return true; }

  // The exception because of which a dump file was written; null if there is none.
  virtual const Crash* crash() const noexcept { return nullptr; }
  // The path of the image that was at this address and was unloaded, and its base. Nothing if there was none, or if it
  // is not known.
  struct UnloadedImage {
    std::string path;
    std::uint64_t base = 0;
  };
  virtual std::optional<UnloadedImage> unloaded_at(std::uint64_t /*address*/) const { return std::nullopt; }
  // The file of an image of modules(), if it is on this machine and is that very image. Only a dump can lack the
  // content of an image, so a live process gives none.
  virtual std::optional<std::vector<std::byte>> file_of(const Module& /*module*/) const { return std::nullopt; }

  // The target's memory. In a live process that runs, two reads may be of two different moments.
  virtual const MemoryReader& memory() const noexcept = 0;
  // The code at addresses outside all images.
  virtual OutsideMemory& outside() noexcept = 0;

  // For a live process that runs: forgets the memory that was read, so that it is read anew. Copies of threads are
  // kept. Returns false if the target does not run; nothing is forgotten then.
  virtual bool drop_memory() { return false; }
  // Does the same, and forgets the copies of threads as well.
  virtual bool forget_memory() { return false; }

  // Reads the thread's registers, and its stack from Rsp to the stack's base, both at the same moment, into
  // sample.context and sample.stack. If that fails, sample.fault says why. A live thread is suspended only while both
  // are copied.
  virtual void capture(const TargetThread& thread, RawSample& sample) = 0;
};

}  // namespace mixwalk
