#pragma once

#include <optional>
#include <string>
#include <vector>

#include "unmanaged/minidump/dump_memory.h"
#include "unmanaged/minidump/minidump.h"
#include "walker/target/disk_images.h"
#include "walker/target/image_backed_memory.h"
#include "walker/target/page_cache.h"
#include "walker/target/target.h"
#include "walker/target/target_images.h"

namespace mixwalk {

// A process in a minidump. If the dump lacks the memory of an image, the image's file on this machine is read.
class DumpTarget final : public Target {
 public:
  // `dump` must have no error. Both arguments must outlive this object.
  DumpTarget(const Minidump& dump, DiskImages& disk);

  const Process& process() const noexcept override { return process_; }
  const Runtime& runtime() const noexcept override { return runtime_; }
  std::uint64_t unix_time_ms() const noexcept override { return std::uint64_t{dump_.time()} * 1000; }
  std::span<const Module> modules() const noexcept override { return modules_; }
  std::span<const TargetThread> threads() const noexcept override { return threads_; }
  std::optional<std::vector<std::byte>> file_of(const Module& module) const override {
    auto file = disk_.image(module);
    return file ? std::move(file) : disk_.fetched_image(module);
  }
  const MemoryReader& memory() const noexcept override { return memory_; }
  OutsideMemory& outside() noexcept override { return outside_; }
  const Crash* crash() const noexcept override { return crash_ ? &*crash_ : nullptr; }
  std::optional<UnloadedImage> unloaded_at(std::uint64_t address) const override;
  // The stack's limits are those of the TEB if the dump has it, otherwise those of the part of the stack in the dump.
  // If both do not contain Rsp, the stack is the contiguous memory at Rsp. The thread of an exception is captured where
  // the exception was raised, and not in a handler.
  void capture(const TargetThread& thread, RawSample& sample) override;

  // The images, with the facts in the dump about their PDBs.
  const std::vector<TargetImages::Image>& images() const noexcept { return images_; }
  const MemoryReader& dumped_memory() const noexcept { return dumped_; }
  // The paths of images that are not in modules(), because they overlap another image.
  const std::vector<std::string>& overlapping() const noexcept { return overlapping_; }

 private:
  void list_modules();
  void list_threads();
  void find_crash();
  void find_first_fault();
  bool is_in_memory(const Module& module) const;
  bool is_stop(const MinidumpException& exception) const;
  StackLimits stack_limits(const MinidumpThread* thread, std::uint64_t rsp) const;

  const Minidump& dump_;
  DiskImages& disk_;
  Process process_;
  Runtime runtime_;
  std::vector<Module> modules_;
  std::vector<TargetImages::Image> images_;  // in the order of modules_
  std::vector<std::string> overlapping_;
  std::vector<TargetThread> threads_;  // in the order of dump_.threads(); at its end one that only the exception names
  std::optional<MinidumpException> raised_;  // the dump's exception, or the fault that it raises anew
  std::optional<Crash> crash_;
  DumpMemory dumped_;
  // A walk reads some twenty words of an image for each frame, and a read of a file costs more than a copy.
  static constexpr std::size_t kPages = 128;
  PageCache pages_{dumped_, kPages};
  ImageBackedMemory memory_;
  DumpOutsideMemory outside_;
};

}  // namespace mixwalk
