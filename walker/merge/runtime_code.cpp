#include "walker/merge/runtime_code.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>

#include "unmanaged/step/call_site.h"

namespace mixwalk {
namespace {

constexpr int kAny = -1;  // a byte of an address, a constant or a displacement
constexpr std::uint64_t kAlignment = 8;
constexpr std::size_t kMaxShapeBytes = 33;
constexpr std::uint64_t kMaxCodeBytes = 192;
constexpr std::size_t kReadBytes = 128;  // no code that is decoded is longer

// The first bytes of code of one kind.
struct Shape {
  std::string_view kind;
  std::size_t size = 0;        // of `bytes`
  std::uint64_t code_bytes = 0;  // of all of the code
  std::array<int, kMaxShapeBytes> bytes{};
};

template <class... Bytes>
constexpr Shape shape(std::string_view kind, std::uint64_t code_bytes, Bytes... bytes) {
  return {kind, sizeof...(bytes), code_bytes == 0 ? sizeof...(bytes) : code_bytes, {bytes...}};
}

constexpr auto A = kAny;
constexpr Shape kShapes[] = {
    // mov [rcx], rdx; and the variants of JIT_WriteBarrier, the longest of which has 176 bytes
    shape("write barrier", kMaxCodeBytes, 0x48, 0x89, 0x11, 0x0F, 0x1F, 0x00, 0x48, 0xB8),
    shape("write barrier", kMaxCodeBytes, 0x48, 0x89, 0x11, 0x4C, 0x8B, 0xC1, 0x48, 0xB8),
    shape("write barrier", kMaxCodeBytes, 0x48, 0x89, 0x11, 0x48, 0x8B, 0xC1, 0x49, 0xB8),
    // StubPrecode: mov r10, [rip + …]; jmp [rip + …]. The data is one page of the heap behind the code.
    shape("precode", 0, 0x4C, 0x8B, 0x15, 0xF9, A, 0, 0, 0xFF, 0x25, 0xFB, A, 0, 0),
    // FixupPrecode: jmp [rip + …]; mov r10, [rip + …]; jmp [rip + …]
    shape("precode", 0, 0xFF, 0x25, 0xFA, A, 0, 0, 0x4C, 0x8B, 0x15, 0xFB, A, 0, 0, 0xFF, 0x25, 0xFD, A, 0, 0),
    // CallCountingStub: mov rax, [rip + …]; dec word ptr [rax]; je; jmp [rip + …]; jmp [rip + …]
    shape("call counter", 0, 0x48, 0x8B, 0x05, 0xF9, A, 0, 0, 0x66, 0xFF, 0x08, 0x74, 0x06, 0xFF, 0x25, 0xF6, A, 0,
          0, 0xFF, 0x25, 0xF8, A, 0, 0),
    // LookupStub: nop; mov rax, token; push rax; mov rax, target; jmp rax
    shape("interface dispatch", 0, 0x90, 0x48, 0xB8, A, A, A, A, A, A, A, A, 0x50, 0x48, 0xB8, A, A, A, A, A, A, A, A,
          0xFF, 0xE0),
    // DispatchStub: mov rax, type; cmp [rcx], rax; nop; mov rax, target; jne …; jmp rax. If the place to which the jne
    // leads is far away, a second jump follows.
    shape("interface dispatch", 32, 0x48, 0xB8, A, A, A, A, A, A, A, A, 0x48, 0x39, 0x01, 0x90, 0x48, 0xB8, A, A, A,
          A, A, A, A, A, 0x0F, 0x85),
    shape("interface dispatch", 40, 0x48, 0xB8, A, A, A, A, A, A, A, A, 0x48, 0x39, 0x01, 0x90, 0x48, 0xB8, A, A, A,
          A, A, A, A, A, 0x75, 0x02, 0xFF, 0xE0),
    // ResolveStub: mov rax, [rcx]; push rdx; mov r10, cache; mov rdx, rax; shr rax, 12; add rax, rdx; …
    shape("interface dispatch", 112, 0x48, 0x8B, 0x01, 0x52, 0x49, 0xBA, A, A, A, A, A, A, A, A, 0x48, 0x8B, 0xD0, 0x48,
          0xC1, 0xE8, 0x0C, 0x48, 0x03, 0xC2, 0x48, 0x35),
    // VTableCallStub: mov rax, [rcx]; mov rax, [rax + …]; jmp [rax + …]; and the number of the method's slot
    shape("virtual call", 10, 0x48, 0x8B, 0x01, 0x48, 0x8B, 0x40, A, 0xFF, 0x60, A, A, A, 0, 0, 0, 0),
    shape("virtual call", 13, 0x48, 0x8B, 0x01, 0x48, 0x8B, 0x40, A, 0xFF, 0xA0, A, A, 0, 0, A, A, 0, 0),
    shape("virtual call", 13, 0x48, 0x8B, 0x01, 0x48, 0x8B, 0x80, A, A, 0, 0, 0xFF, 0x60, A, A, A, 0, 0),
    shape("virtual call", 16, 0x48, 0x8B, 0x01, 0x48, 0x8B, 0x80, A, A, 0, 0, 0xFF, 0xA0, A, A, 0, 0, A, A, 0, 0),
};

bool matches(const Shape& shape, std::span<const std::uint8_t> bytes) noexcept {
  for (std::size_t i = 0; i < shape.size; ++i) {
    if (shape.bytes[i] != kAny && shape.bytes[i] != bytes[i]) return false;
  }
  return true;
}

// The kind of the code that begins at bytes[0] and has more than `offset` bytes.
std::string_view kind_by_shape(std::span<const std::uint8_t> bytes, std::uint64_t offset) noexcept {
  for (const Shape& shape : kShapes) {
    if (offset < shape.code_bytes && shape.size <= bytes.size() && matches(shape, bytes)) return shape.kind;
  }
  return {};
}

// Code of the runtime that only moves arguments, or looks them up, and then jumps or returns. The moves depend on the
// method, so this code has no fixed bytes, and is decoded. What it jumps to, or how it ends, is the proof.
//
// Source: DynamicHelpers in the runtime's cgenamd64.cpp (helpers of ReadyToRun code), EmitShuffleThunk,
// EmitInstantiatingMethodStub and EmitUnboxMethodStub of its stublinker, public.
class StraightCode {
 public:
  // `bytes`: from the code's first instruction on, whose address is `begin`.
  StraightCode(std::span<const std::uint8_t> bytes, std::uint64_t begin, const ModuleView& images,
               const MemoryReader& code) noexcept
      : bytes_(bytes), begin_(begin), images_(images), code_(code) {}

  // Empty if the bytes are no such code, or if it ends before `offset`.
  std::string_view kind(std::uint64_t offset) noexcept {
    while (at_ < bytes_.size()) {
      if (const std::size_t end = end_bytes(); end != 0) {
        return instructions_ != 0 && offset < at_ + end ? kind_of_end(at_ + end) : std::string_view();
      }
      const std::size_t bytes = instruction();
      if (bytes == 0) return {};
      at_ += bytes;
      ++instructions_;
    }
    return {};
  }

 private:
  std::uint8_t byte(std::size_t i) const noexcept { return at_ + i < bytes_.size() ? bytes_[at_ + i] : 0; }
  bool has(std::size_t at, std::initializer_list<std::uint8_t> expected) const noexcept {
    return at + expected.size() <= bytes_.size() && std::ranges::equal(expected, bytes_.subspan(at, expected.size()));
  }

  // The length of the instruction here if it is one at which such code ends, otherwise 0.
  std::size_t end_bytes() const noexcept {
    if (byte(0) == 0xE9) return 5;                 // jmp
    if (has(at_, {0xFF, 0xE0})) return 2;          // jmp rax
    if (has(at_, {0x41, 0xFF, 0xE2})) return 3;    // jmp r10
    return byte(0) == 0xC3 ? 1 : 0;                // ret
  }

  // The length of the instruction here, 0 if such code does not have it.
  std::size_t instruction() noexcept {
    if (has(at_, {0x74, 0x01, 0xC3})) return 3;  // je over a ret
    if (byte(0) == 0x7E) return 2;               // jle
    const bool wide = (byte(0) & 0xF8) == 0x48;  // REX.W
    const std::uint8_t opcode = byte(wide ? 1 : 0), operand = byte(2);
    if ((opcode & 0xF8) == 0xB8) {  // mov register, constant
      if (opcode == 0xB8 && (!wide || byte(0) == 0x48)) rax_ = wide ? constant(2, 8) : constant(1, 4);
      return wide ? 10 : 5;
    }
    if (!wide) return 0;
    switch (opcode) {
      case 0x89:
      case 0x8B: {  // mov between registers, or to or from [register + …]; not with rsp, which has another byte
        const int mode = operand >> 6;
        if (mode == 3) return 3;
        return mode == 0 || (operand & 7) == 4 ? 0 : mode == 1 ? 4 : 7;
      }
      case 0xA1: return 10;                                  // mov rax, [address]
      case 0x83: return (operand & 0xF8) == 0xC0 ? 4 : 0;    // add register, constant
      case 0x81: return operand == 0xB8 ? 11 : 0;            // cmp [rax + …], constant
      case 0x85: return operand == 0xC0 ? 3 : 0;             // test rax, rax
      default: return 0;
    }
  }

  std::uint64_t constant(std::size_t at, std::size_t bytes) const noexcept {
    std::uint64_t value = 0;
    for (std::size_t i = bytes; i-- > 0;) value = value << 8 | byte(at + i);
    return value;
  }

  // `end`: where the code ends, behind the instruction here.
  std::string_view kind_of_end(std::size_t end) const noexcept {
    switch (byte(0)) {
      case 0xE9: return is_of_runtime(jump_at(bytes_.subspan(at_), begin_ + at_).address) ? "helper" : "";
      case 0xFF:
        if (!is_of_runtime(rax_)) return {};
        if (instructions_ == 1) return "jump stub";
        return has(0, {0x48, 0x83, 0xC1}) ? "unboxing stub" : "instantiating stub";
      case 0x41: {
        const bool keeps_delegate = has(0, {0x49, 0x89, 0xCB}) || has(0, {0x48, 0x8B, 0xC4, 0x49, 0x89, 0xCB});
        return keeps_delegate && has(at_ - 4, {0x49, 0x83, 0xC3, 0x20}) ? "shuffle thunk" : "";
      }
      default: return returns_constant() && is_padded(end) ? "helper" : "";
    }
  }

  // A helper that returns a constant, the word at an address, or an entry of a dictionary, which takes at least two
  // reads, the first of [rcx + …]. One read alone may be a function of any compiler.
  bool returns_constant() const noexcept {
    if (has(0, {0x48, 0xB8}) || has(0, {0x48, 0xA1})) return true;
    return (has(0, {0x48, 0x8B, 0x41}) || has(0, {0x48, 0x8B, 0x81})) && instructions_ > 1;
  }
  // The runtime fills the rest of a helper with int3.
  bool is_padded(std::size_t from) const noexcept {
    const std::size_t end = (from + kAlignment - 1) / kAlignment * kAlignment;
    return from < end && end <= bytes_.size() &&
           std::ranges::all_of(bytes_.subspan(from, end - from), [](std::uint8_t byte) { return byte == 0xCC; });
  }

  // Whether this is code of the runtime, or leads there at once: the entry of a method (precode), or a jump stub.
  bool is_of_runtime(std::uint64_t target) const noexcept {
    if (const ModuleSpan* const image = images_.find(target)) {
      return image->lock_risk == LockRisk::any || image->has_managed_code;
    }
    std::array<std::uint8_t, kMaxShapeBytes> bytes{};
    const std::size_t known = code_.read_up_to(target, bytes.data(), bytes.size());
    const auto read = std::span(bytes).first(known);
    if (kind_by_shape(read, 0) == "precode") return true;
    const Jump next = known >= 12 ? jump_at(read, target) : Jump();
    const ModuleSpan* const image = next.kind == Jump::Kind::direct ? images_.find(next.address) : nullptr;
    return image != nullptr && image->lock_risk == LockRisk::any;
  }

  std::span<const std::uint8_t> bytes_;
  std::uint64_t begin_;
  const ModuleView& images_;
  const MemoryReader& code_;
  std::size_t at_ = 0, instructions_ = 0;
  std::uint64_t rax_ = 0;
};

}  // namespace

std::string_view runtime_code_kind(std::uint64_t ip, const ModuleView& images, const MemoryReader& code) noexcept {
  for (std::uint64_t begin = ip / kAlignment * kAlignment; ip - begin < kMaxCodeBytes; begin -= kAlignment) {
    std::array<std::uint8_t, kReadBytes> bytes{};
    const std::size_t known = code.read_up_to(begin, bytes.data(), bytes.size());
    if (known == 0) return {};
    const auto read = std::span(bytes).first(known);
    std::string_view kind = kind_by_shape(read, ip - begin);
    if (kind.empty()) kind = StraightCode(read, begin, images, code).kind(ip - begin);
    if (!kind.empty()) return kind;
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
