#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "unmanaged/image/pe_image.h"
#include "unmanaged/step/memory_reader.h"
#include "unmanaged/step/module_view.h"
#include "walker/model/snapshot.h"
#include "walker/target/disk_images.h"

namespace mixwalk {

// A target's memory. If it lacks a part of an image, the image's file on this machine is read instead. So a dump
// without the images' code can be walked as far as the files exist. A file's headers, code and constants are used,
// relocated, but not the addresses of its imports, because the loader writes these. All arguments must outlive this
// object. Not frozen-safe (a file is read when it is first needed); one thread at a time.
//
// A live process is never read where it has guarded or closed its memory. Its code may differ from the file's there, as
// that of a program that unpacks itself, so only the file's headers and constants are used for it.
class ImageBackedMemory final : public MemoryReader {
 public:
  enum class Uses : std::uint8_t { code_and_constants, constants };

  // `modules`: sorted by base, disjoint.
  ImageBackedMemory(const MemoryReader& memory, std::span<const Module> modules, DiskImages& disk,
                    Uses uses = Uses::code_and_constants) noexcept
      : memory_(memory), modules_(modules), disk_(disk), uses_(uses) {}

  // Forgets the files as well, since another image may be at a base by now.
  void set_modules(std::span<const Module> modules) noexcept {
    modules_ = modules;
    files_.clear();
  }

  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override;
  std::size_t read_up_to(std::uint64_t address, void* into, std::size_t bytes) const noexcept override;

 private:
  struct File {
    std::vector<std::byte> bytes;
    PeImage image;
    std::vector<CodeRange> unknown;  // RVAs of data that the loader or the program fills in
  };
  std::unique_ptr<File> parse(std::vector<std::byte> bytes, std::uint64_t base) const;
  // Reads as many of the bytes as are contiguous in the file.
  std::size_t read_file(std::uint64_t address, std::byte* into, std::size_t bytes) const;

  const MemoryReader& memory_;
  std::span<const Module> modules_;
  DiskImages& disk_;
  Uses uses_;
  mutable std::map<std::uint64_t, std::unique_ptr<File>> files_;  // by base; null if no file was found
};

}  // namespace mixwalk
