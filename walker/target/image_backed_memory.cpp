#include "walker/target/image_backed_memory.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "unmanaged/image/image_headers.h"
#include "unmanaged/image/relocations.h"

namespace mixwalk {
namespace {

constexpr std::uint32_t kHeaderBytes = 4096;  // how many bytes of a file are read as its headers

// The bytes of a file, by their offsets. Its headers have the same layout as in memory.
class FileBytes final : public MemoryReader {
 public:
  explicit FileBytes(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}
  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    if (address > bytes_.size() || bytes > bytes_.size() - address) return false;
    std::memcpy(into, bytes_.data() + address, bytes);
    return true;
  }

 private:
  std::span<const std::byte> bytes_;
};

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
      } catch (const std::exception&) {  // no memory, or a name that is no path of this system
        step = 0;
      }
    }
    if (step == 0) break;
    done += step;
  }
  return done;
}

// Returns null if the bytes are not an x64 image.
std::unique_ptr<ImageBackedMemory::File> ImageBackedMemory::parse(std::vector<std::byte> bytes,
                                                                  std::uint64_t base) const {
  auto file = std::make_unique<File>();
  file->bytes = std::move(bytes);
  file->image = PeImage::parse(file->bytes);
  const FileBytes headers_at(file->bytes);
  const auto headers = ImageHeaders::read(headers_at, 0);
  if (file->image.error() != PeError::none || !headers) return nullptr;
  relocate(file->bytes, file->image, headers->directory(kRelocationTable), base);
  const auto add = [&](std::uint32_t rva, std::uint32_t count) {
    file->unknown.push_back({rva, rva + std::min(count, UINT32_MAX - rva)});
  };
  for (std::uint32_t i = 0; const auto section = headers->section(i); ++i) {
    const bool unknown = section->writable() || (uses_ == Uses::constants && section->executable());
    if (unknown) add(section->rva, std::max(section->virtual_bytes, section->file_bytes));
  }
  const auto imports = headers->directory(ImageHeaders::kImportAddresses);
  add(imports.rva, imports.bytes);
  return file;
}

std::size_t ImageBackedMemory::read_file(std::uint64_t address, std::byte* into, std::size_t bytes) const {
  const auto after = std::upper_bound(modules_.begin(), modules_.end(), address,
                                      [](std::uint64_t value, const Module& module) { return value < module.base; });
  if (after == modules_.begin()) return 0;
  const Module& module = *(after - 1);
  if (address - module.base >= module.size) return 0;
  const auto [at, fresh] = files_.try_emplace(module.base);
  if (fresh) {
    auto found = disk_.image(module);
    if (!found) found = disk_.fetched_image(module);
    if (found) at->second = parse(std::move(*found), module.base);
  }
  if (at->second == nullptr) return 0;
  const File& file = *at->second;
  const auto rva = static_cast<std::uint32_t>(address - module.base);
  for (const CodeRange& unknown : file.unknown) {
    if (rva >= unknown.begin && rva < unknown.end) return 0;
    if (unknown.begin > rva) bytes = std::min<std::size_t>(bytes, unknown.begin - rva);
  }
  std::span<const std::byte> there;
  if (const PeSection* const section = file.image.section_at(rva)) {
    const std::uint32_t from = rva - section->rva;
    if (from < section->file_bytes) {
      there = file.image.bytes_at(rva, std::min<std::size_t>(bytes, section->file_bytes - from)).value_or(there);
    }
  } else if (rva < std::min<std::size_t>(kHeaderBytes, file.bytes.size())) {
    const std::size_t headers = std::min<std::size_t>(kHeaderBytes, file.bytes.size());
    there = std::span(file.bytes).subspan(rva, std::min(bytes, headers - rva));
  }
  if (!there.empty()) std::memcpy(into, there.data(), there.size());
  return there.size();
}

}  // namespace mixwalk
