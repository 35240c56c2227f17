// Uses arbitrary bytes as an image with its .pdata, as registers and as a stack: the unwinder must stop, read nothing
// but its input, and never go down the stack.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "tests/builders/unknown_outside_memory.h"
#include "unmanaged/step/table_unwind_step.h"

namespace {

constexpr std::uint64_t kImage = 0x1'4000'0000;
constexpr std::uint64_t kStack = 0x20'0000;
constexpr std::size_t kHeader = 32;  // counts and registers
// Every step goes up the stack by at least 8 bytes.
constexpr int kMaxSteps = 1 << 16;

class Slice final : public mixwalk::MemoryReader {
 public:
  Slice(std::uint64_t base, const std::uint8_t* bytes, std::size_t size)
      : base_(base), bytes_(bytes), size_(size) {}
  bool read(std::uint64_t address, void* into, std::size_t bytes) const noexcept override {
    const std::uint64_t at = address - base_;
    if (at > size_ || bytes > size_ - at) return false;
    std::memcpy(into, bytes_ + at, bytes);
    return true;
  }

 private:
  std::uint64_t base_;
  const std::uint8_t* bytes_;
  std::size_t size_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < kHeader) return 0;
  std::uint16_t fields[kHeader / 2];
  std::memcpy(fields, data, kHeader);
  data += kHeader;
  size -= kHeader;
  const std::size_t image_bytes = size / 2;
  const Slice image(kImage, data, image_bytes);
  const Slice stack(kStack, data + image_bytes, size - image_bytes);
  const mixwalk::ModuleSpan span{.base = kImage, .size = 0x1'0000, .pdata_rva = fields[0],
                                 .pdata_count = fields[1]};
  const mixwalk::ModuleView modules({&span, 1});
  mixwalk::UnknownOutsideMemory outside;
  mixwalk::TableUnwindStep step(modules, image, stack, outside);
  mixwalk::Cursor frame;
  for (std::size_t i = 0; i < mixwalk::kGeneralRegisters; ++i) {
    frame.registers.general[i] = kStack + fields[i % 8 + 4];
  }
  frame.registers.rip = kImage + fields[2];
  frame.registers[mixwalk::Register::rsp] = kStack + fields[3];
  for (int i = 0;; ++i) {
    const std::uint64_t before = frame.registers.rsp();
    if (step.step(frame, mixwalk::LeafRule::allowed).fault != mixwalk::StepFault::none) return 0;
    if (frame.registers.rsp() <= before || i > kMaxSteps) std::abort();
  }
}
