#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "unmanaged/win/process_memory.h"
#include "unmanaged/win/remote_memory.h"
#include "unmanaged/win/unique_handle.h"
#include "walker/base/failure.h"
#include "walker/target/disk_images.h"
#include "walker/target/image_backed_memory.h"
#include "walker/target/page_cache.h"
#include "walker/target/suspension/outside_moments.h"
#include "walker/target/suspension/outside_thread.h"
#include "walker/target/target.h"

namespace mixwalk {

// A live process that is only read: nothing is loaded or written into it, and no call is made to its runtime.
// A thread is suspended only while its registers and its stack are copied. The list of images and the thread
// environment blocks are read from the process's own memory, so they are not trusted.
class LiveTarget final : public Target {
 public:
  // The rights that reading needs: PROCESS_QUERY_INFORMATION | PROCESS_VM_READ | SYNCHRONIZE. `names`: whether the
  // names of its threads are read. That takes two questions to the system for each of them.
  static Outcome<std::unique_ptr<LiveTarget>> open(std::uint32_t process_id, bool names = true);

  // To be called when the process has run: its images, threads and memory are read anew.
  void refresh();

  const Process& process() const noexcept override { return process_; }
  const Runtime& runtime() const noexcept override { return runtime_; }
  std::uint64_t unix_time_ms() const noexcept override { return unix_time_ms_; }
  std::span<const Module> modules() const noexcept override { return modules_; }
  std::span<const TargetThread> threads() const noexcept override { return threads_; }
  // Reads the image's headers anew and compares them. It does not notice if the same image was unloaded and loaded
  // again.
  bool is_still_loaded(std::uint64_t base) override;
  // Constants of images that the process has guarded or closed come from the images' files (ImageBackedMemory).
  const MemoryReader& memory() const noexcept override { return backed_; }
  OutsideMemory& outside() noexcept override { return memory_; }
  bool drop_memory() override;
  // From then on capture() captures every thread anew, even those that were suspended together.
  bool forget_memory() override;
  void capture(const TargetThread& thread, RawSample& sample) override;

  // Suspends the wanted threads (all if `wanted` is empty) together, and keeps the registers and the stack of each for
  // capture(), so they are of the same moment. Threads that were not copied within the deadline, or that have started
  // meanwhile, are suspended together at a next moment. Threads that have no copy after the last moment are captured
  // one by one.
  void freeze_together(const std::function<bool(const TargetThread&)>& wanted, std::uint32_t deadline_ms);
  // Sets Snapshot::moments and Thread::moment in a snapshot that was made after freeze_together() and before the next
  // refresh().
  void add_moments(Snapshot& snapshot) const;

  // For the worker that asks the runtime's debugging library (clr_worker.h).
  HANDLE handle() const noexcept { return handle_.get(); }

 private:
  LiveTarget(UniqueHandle handle, std::uint32_t process_id, bool names);

  void read_modules();
  void read_threads();
  // Returns null if the thread has ended, or may not be opened.
  OutsideThread* thread(std::uint32_t id);

  UniqueHandle handle_;
  RemoteMemory memory_;
  RemoteMemory stacks_;  // asks anew about stacks for each thread
  OutsideMoments moments_;
  bool of_moments_ = true;  // capture() returns the copies that moments_ has kept
  PageCache cache_;
  DiskImageFiles all_files_;
  LocalImageFiles files_{all_files_};
  NoImageFiles no_files_;
  DiskImages disk_{files_, no_files_, {}};
  ImageBackedMemory backed_{cache_, {}, disk_, ImageBackedMemory::Uses::constants};
  const bool names_;
  std::uint64_t peb_ = 0;
  Process process_;
  Runtime runtime_;
  std::uint64_t unix_time_ms_ = 0;
  std::vector<Module> modules_;
  std::unordered_map<std::uint64_t, std::uint64_t> identities_;  // of images, by base
  std::vector<TargetThread> threads_;
  std::map<std::uint32_t, OutsideThread> opened_;
};

}  // namespace mixwalk
