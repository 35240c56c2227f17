#include "walker/outside/image_backed_memory.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace mixwalk {
namespace {

constexpr std::uint32_t kHeaderBytes = 4096;  // of a file, that are taken for its headers

}  // namespace

bool ImageBackedMemory::read(std::uint64_t address, void* into, std::size_t bytes) const noexcept {
  return memory_.read(address, into, bytes) || read_up_to(address, into, bytes) == bytes;
}

std::size_t ImageBackedMemory::read_up_to(std::uint64_t address, void* into, std::size_t bytes) const noexcept {
  auto* const to = static_cast<std::byte*>(into);
  std::size_t done = 0;
  while (done < bytes) {
    std::size_t step = memory_.read_up_to(address + done, to + done, bytes - done);
    if (step == 0) {
      try {
        step = read_file(address + done, to + done, bytes - done);
      } catch (const std::bad_alloc&) {
        step = 0;
      }
    }
    if (step == 0) break;
    done += step;
  }
  return done;
}

std::size_t ImageBackedMemory::read_file(std::uint64_t address, std::byte* into, std::size_t bytes) const {
  const auto after = std::upper_bound(modules_.begin(), modules_.end(), address,
                                      [](std::uint64_t value, const Module& module) { return value < module.base; });
  if (after == modules_.begin()) return 0;
  const Module& module = *(after - 1);
  if (address - module.base >= module.size) return 0;
  const auto [at, fresh] = files_.try_emplace(module.base);
  if (fresh) {
    if (auto found = disk_.image(module)) {
      auto file = std::make_unique<File>();
      file->bytes = std::move(*found);
      file->image = PeImage::parse(file->bytes);
      if (file->image.error() == PeError::none) at->second = std::move(file);
    }
  }
  if (at->second == nullptr) return 0;
  const File& file = *at->second;
  const auto rva = static_cast<std::uint32_t>(address - module.base);
  std::span<const std::byte> there;
  if (const PeSection* const section = file.image.section_at(rva)) {
    const std::uint32_t from = rva - section->rva;
    if (from < section->file_bytes) {
      there = file.image.bytes_at(rva, std::min<std::size_t>(bytes, section->file_bytes - from)).value_or(there);
    }
  } else if (rva < std::min<std::size_t>(kHeaderBytes, file.bytes.size())) {
    there = std::span(file.bytes).subspan(rva, std::min<std::size_t>(bytes, std::min<std::size_t>(kHeaderBytes, file.bytes.size()) - rva));
  }
  if (!there.empty()) std::memcpy(into, there.data(), there.size());
  return there.size();
}

}  // namespace mixwalk
