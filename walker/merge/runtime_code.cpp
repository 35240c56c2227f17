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
constexpr std::size_t kMaxShapeBytes = 28;
constexpr std::uint64_t kMaxCodeBytes = 192;

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
    // VTableCallStub: mov rax, [rcx]; mov rax, [rax + …]; jmp [rax + …]; and the number of the method's slot. The
    // second offset is that of a slot in a chunk of eight.
    shape("virtual call", 10, 0x48, 0x8B, 0x01, 0x48, 0x8B, 0x40, A, 0xFF, 0x60, A, A, A, 0, 0, 0, 0),
    shape("virtual call", 13, 0x48, 0x8B, 0x01, 0x48, 0x8B, 0x80, A, A, 0, 0, 0xFF, 0x60, A, A, A, 0, 0),
};

// What a ReadyToRun image has besides methods: the code that the first call through an import slot reaches.
constexpr Shape kThunks[] = {
    // (xor eax, eax or mov rax, r11;) push number; push [rip + …]; jmp [rip + …]
    shape("import thunk", 16, 0x33, 0xC0, 0x6A, A, 0xFF, 0x35, A, A, A, A, 0xFF, 0x25),
    shape("import thunk", 17, 0x49, 0x8B, 0xC3, 0x6A, A, 0xFF, 0x35, A, A, A, A, 0xFF, 0x25),
    shape("import thunk", 14, 0x6A, A, 0xFF, 0x35, A, A, A, A, 0xFF, 0x25),
};

bool matches(const Shape& shape, std::span<const std::uint8_t> bytes) noexcept {
  for (std::size_t i = 0; i < shape.size; ++i) {
    if (shape.bytes[i] != kAny && shape.bytes[i] != bytes[i]) return false;
  }
  return true;
}

// The kind of the code that begins at `begin` and contains the place `offset` bytes behind it.
std::string_view kind_by_shape(std::span<const Shape> shapes, std::uint64_t begin, std::uint64_t offset,
                               const MemoryReader& memory) noexcept {
  std::array<std::uint8_t, kMaxShapeBytes> room{};
  const auto bytes = std::span(room).first(memory.read_up_to(begin, room.data(), room.size()));
  for (const Shape& shape : shapes) {
    if (offset < shape.code_bytes && shape.size <= bytes.size() && matches(shape, bytes)) return shape.kind;
  }
  return {};
}

// The runtime's Stub: a header, and behind it code that moves arguments and jumps to a method. The moves depend on the
// method, so the code has no fixed bytes. The header says how long it is, and the code's end is the same for all.
//
// Source: stublink.h of the runtime (the fields of Stub), GenerateShuffleArray and EmitInstantiatingMethodStub, public.
struct StubHeader {
  std::uint32_t references = 0;
  std::uint32_t bytes_and_flags = 0;  // of the code; the flags are the highest bits, and differ between versions
  std::uint64_t method = 0;           // of an instantiating stub
};
constexpr std::uint32_t kStubFlags = 0xF800'0000;
constexpr std::uint32_t kMaxReferences = 1 << 24;

bool ends_with(std::span<const std::uint8_t> code, std::initializer_list<std::uint8_t> end) noexcept {
  return code.size() >= end.size() && std::ranges::equal(code.last(end.size()), end);
}

// `ip` is `offset` bytes behind `begin`, where such code may begin.
std::string_view kind_of_stub(std::uint64_t begin, std::uint64_t offset, const MemoryReader& memory) noexcept {
  const auto header = memory.read_value<StubHeader>(begin - sizeof(StubHeader));
  if (!header || header->references == 0 || header->references > kMaxReferences) return {};
  const std::uint32_t bytes = header->bytes_and_flags & ~kStubFlags;
  std::array<std::uint8_t, kMaxCodeBytes> room{};
  if (bytes == header->bytes_and_flags || bytes % kAlignment != 0 || bytes > room.size()) return {};
  if (offset >= bytes || !memory.read(begin, room.data(), bytes)) return {};
  for (auto code = std::span(room).first(bytes); code.size() > offset; code = code.first(code.size() - 1)) {
    // mov r10, [r11 + 32]; add r11, 32; jmp r10: r11 is the delegate. Behind it lies how the arguments are moved.
    if (ends_with(code, {0x4D, 0x8B, 0x53, 0x20, 0x49, 0x83, 0xC3, 0x20, 0x41, 0xFF, 0xE2})) return "shuffle thunk";
    // mov eax or rax, target; jmp rax
    if (!ends_with(code, {0xFF, 0xE0}) || header->method == 0) continue;
    const bool is_short = code.size() >= 7 && code[code.size() - 7] == 0xB8;
    const bool is_long = code.size() >= 12 && code[code.size() - 12] == 0x48 && code[code.size() - 11] == 0xB8;
    if (is_short || is_long) return "instantiating stub";
  }
  return {};
}

// Whether the caller, a method that was compiled ahead of time, called this code by one of its image's import slots.
// Each of them leads to a method, or to a helper that the runtime made for it. (DynamicHelpers in the runtime's
// cgenamd64.cpp.)
bool is_called_as_helper(std::uint64_t ip, std::uint64_t return_address, const ModuleView& images,
                         const MemoryReader& memory) noexcept {
  constexpr std::uint64_t kMaxHelperBytes = 64;
  const ModuleSpan* const image = images.find(return_address - 1);
  if (image == nullptr || !image->has_managed_code) return false;
  const CallSites calls = calls_before(return_address, memory);
  return std::ranges::any_of(calls.sites(), [&](const CallSite& call) {
    if (call.kind != CallSite::Kind::slot || images.find(call.address) != image) return false;
    const auto target = memory.read_value<std::uint64_t>(call.address);
    return target && *target <= ip && ip - *target < kMaxHelperBytes;
  });
}

// Calls kind_at(begin, ip - begin) for each place before `ip` at which its code may begin, until one gives a kind. If
// the code at `ip` cannot be read, no place is tried: from outside, each read is a question to the system.
std::string_view first_kind(std::uint64_t ip, const MemoryReader& memory, auto kind_at) noexcept {
  if (!memory.read_value<std::uint8_t>(ip)) return {};
  for (std::uint64_t begin = ip / kAlignment * kAlignment; ip - begin < kMaxCodeBytes; begin -= kAlignment) {
    const std::string_view kind = kind_at(begin, ip - begin);
    if (!kind.empty() || begin < kAlignment) return kind;
  }
  return {};
}

std::string_view kind_of(const Stack& stack, std::size_t place, const ModuleView& images,
                         const MemoryReader& memory) noexcept {
  const Frame& frame = stack.frames[place];
  if (frame.module != Frame::kNone) {
    return first_kind(frame.address, memory, [&](std::uint64_t begin, std::uint64_t offset) {
      return kind_by_shape(kThunks, begin, offset, memory);
    });
  }
  const std::string_view kind = runtime_code_kind(frame.address, memory);
  if (!kind.empty() || place + 1 == stack.frames.size()) return kind;
  const Frame& caller = stack.frames[place + 1];
  const bool helps = caller.kind == FrameKind::managed &&
                     is_called_as_helper(frame.address, caller.address, images, memory);
  return helps ? "helper" : "";
}

}  // namespace

std::string_view runtime_code_kind(std::uint64_t ip, const MemoryReader& memory) noexcept {
  return first_kind(ip, memory, [&](std::uint64_t begin, std::uint64_t offset) {
    const std::string_view kind = kind_by_shape(kShapes, begin, offset, memory);
    return kind.empty() ? kind_of_stub(begin, offset, memory) : kind;
  });
}

void name_runtime_code(Stack& stack, const ModuleView& images, const MemoryReader& memory) {
  for (std::size_t i = 0; i < stack.frames.size(); ++i) {
    Frame& frame = stack.frames[i];
    // A stub in an image is code of a ReadyToRun image that is no method.
    const bool unknown = frame.kind == (frame.module == Frame::kNone ? FrameKind::native : FrameKind::stub) &&
                         frame.function == 0 && frame.name.empty() &&
                         frame.address_kind == AddressKind::instruction_pointer;
    if (!unknown || frame.address == 0) continue;
    const std::string_view kind = kind_of(stack, i, images, memory);
    if (kind.empty()) continue;
    frame.kind = FrameKind::stub;
    frame.name = kind;
  }
}

}  // namespace mixwalk
