#include "walker/merge/runtime_code.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "unmanaged/step/call_site.h"

namespace mixwalk {
namespace {

constexpr int kAny = -1;  // a byte of an address, a constant or a displacement
constexpr std::uint64_t kAlignment = 8;
constexpr std::size_t kMaxShapeBytes = 33;
constexpr std::uint64_t kMaxCodeBytes = 192;

// The first bytes of code of one kind.
struct Shape {
  std::string_view kind;
  std::size_t size = 0;        // of `bytes`
  std::uint64_t code_bytes = 0;  // of all of the code
  std::array<int, kMaxShapeBytes> bytes{};
  std::size_t jump = 0;  // the place of a jump that must lead into the runtime; 0 if the bytes are proof enough
};

template <class... Bytes>
constexpr Shape shape(std::string_view kind, std::uint64_t code_bytes, std::size_t jump, Bytes... bytes) {
  return {kind, sizeof...(bytes), code_bytes == 0 ? sizeof...(bytes) : code_bytes, {bytes...}, jump};
}

constexpr auto A = kAny;
constexpr Shape kShapes[] = {
    // mov [rcx], rdx; and the variants of JIT_WriteBarrier, the longest of which has 176 bytes
    shape("write barrier", kMaxCodeBytes, 0, 0x48, 0x89, 0x11, 0x0F, 0x1F, 0x00, 0x48, 0xB8),
    shape("write barrier", kMaxCodeBytes, 0, 0x48, 0x89, 0x11, 0x4C, 0x8B, 0xC1, 0x48, 0xB8),
    shape("write barrier", kMaxCodeBytes, 0, 0x48, 0x89, 0x11, 0x48, 0x8B, 0xC1, 0x49, 0xB8),
    // StubPrecode: mov r10, [rip + …]; jmp [rip + …]. The data is one page of the heap behind the code.
    shape("precode", 0, 0, 0x4C, 0x8B, 0x15, 0xF9, A, 0, 0, 0xFF, 0x25, 0xFB, A, 0, 0),
    // FixupPrecode: jmp [rip + …]; mov r10, [rip + …]; jmp [rip + …]
    shape("precode", 0, 0, 0xFF, 0x25, 0xFA, A, 0, 0, 0x4C, 0x8B, 0x15, 0xFB, A, 0, 0, 0xFF, 0x25, 0xFD, A, 0, 0),
    // CallCountingStub: mov rax, [rip + …]; dec word ptr [rax]; je; jmp [rip + …]; jmp [rip + …]
    shape("call counter", 0, 0, 0x48, 0x8B, 0x05, 0xF9, A, 0, 0, 0x66, 0xFF, 0x08, 0x74, 0x06, 0xFF, 0x25, 0xF6, A, 0,
          0, 0xFF, 0x25, 0xF8, A, 0, 0),
    // DispatchStub: mov rax, type; cmp [rcx], rax; nop; mov rax, target; jne …; jmp rax
    shape("interface dispatch", 32, 0, 0x48, 0xB8, A, A, A, A, A, A, A, A, 0x48, 0x39, 0x01, 0x90, 0x48, 0xB8, A, A, A,
          A, A, A, A, A, 0x0F, 0x85),
    // VTableCallStub: mov rax, [rcx]; mov rax, [rax + …]; jmp [rax + …]; and the number of the method's slot
    shape("virtual call", 10, 0, 0x48, 0x8B, 0x01, 0x48, 0x8B, 0x40, A, 0xFF, 0x60, A, A, A, 0, 0, 0, 0),
    // Helpers of ReadyToRun code: (mov rdx, rcx;) mov rcx, constant; jmp to the runtime
    shape("helper", 0, 10, 0x48, 0xB9, A, A, A, A, A, A, A, A, 0xE9, A, A, A, A),
    shape("helper", 0, 13, 0x48, 0x8B, 0xD1, 0x48, 0xB9, A, A, A, A, A, A, A, A, 0xE9, A, A, A, A),
    // The same for a generic dictionary: mov rax, [rcx + …]; mov rax, [rax + …], once or twice; test rax, rax; je; ret;
    // mov rdx, constant; jmp to the runtime
    shape("helper", 0, 24, 0x48, 0x8B, 0x41, A, 0x48, 0x8B, 0x40, A, 0x48, 0x85, 0xC0, 0x74, 1, 0xC3, 0x48, 0xBA, A, A,
          A, A, A, A, A, A, 0xE9, A, A, A, A),
    shape("helper", 0, 28, 0x48, 0x8B, 0x41, A, 0x48, 0x8B, 0x40, A, 0x48, 0x8B, 0x40, A, 0x48, 0x85, 0xC0, 0x74, 1,
          0xC3, 0x48, 0xBA, A, A, A, A, A, A, A, A, 0xE9, A, A, A, A),
};

bool is_of_runtime(std::uint64_t address, const ModuleView& images) noexcept {
  const ModuleSpan* const image = images.find(address);
  return image != nullptr && image->lock_risk == LockRisk::any;
}

// Whether the jump leads into the runtime, at once or by a jump stub (mov rax, …; jmp rax).
bool leads_to_runtime(std::span<const std::uint8_t> bytes, std::uint64_t address, const ModuleView& images,
                      const MemoryReader& code) noexcept {
  const Jump jump = jump_at(bytes, address);
  if (jump.kind != Jump::Kind::direct) return false;
  if (is_of_runtime(jump.address, images)) return true;
  if (images.find(jump.address) != nullptr) return false;
  const auto stub = code.read_value<std::array<std::uint8_t, 12>>(jump.address);
  if (!stub) return false;
  const Jump next = jump_at(*stub, jump.address);
  return next.kind == Jump::Kind::direct && is_of_runtime(next.address, images);
}

bool matches(const Shape& shape, std::span<const std::uint8_t> bytes) noexcept {
  for (std::size_t i = 0; i < shape.size; ++i) {
    if (shape.bytes[i] != kAny && shape.bytes[i] != bytes[i]) return false;
  }
  return true;
}

}  // namespace

std::string_view runtime_code_kind(std::uint64_t ip, const ModuleView& images, const MemoryReader& code) noexcept {
  for (std::uint64_t begin = ip / kAlignment * kAlignment; ip - begin < kMaxCodeBytes; begin -= kAlignment) {
    std::array<std::uint8_t, kMaxShapeBytes> bytes{};
    const std::size_t known = code.read_up_to(begin, bytes.data(), bytes.size());
    if (known == 0) return {};
    for (const Shape& shape : kShapes) {
      if (ip - begin >= shape.code_bytes || known < shape.size || !matches(shape, bytes)) continue;
      if (shape.jump == 0) return shape.kind;
      if (leads_to_runtime(std::span(bytes).subspan(shape.jump), begin + shape.jump, images, code)) return shape.kind;
    }
  }
  return {};
}

void name_runtime_code(Stack& stack, const ModuleView& images, const MemoryReader& code) {
  for (Frame& frame : stack.frames) {
    const bool unknown = frame.kind == FrameKind::native && frame.module == Frame::kNone && frame.name.empty() &&
                         frame.address_kind == AddressKind::instruction_pointer;
    if (!unknown || frame.address == 0) continue;
    const std::string_view kind = runtime_code_kind(frame.address, images, code);
    if (kind.empty()) continue;
    frame.kind = FrameKind::stub;
    frame.name = kind;
  }
}

}  // namespace mixwalk
