#include "unmanaged/step/epilogue_scan.h"

#include "unmanaged/step/instructions.h"

namespace mixwalk {
namespace {

// The longest epilogue pops all registers, with a few jumps from one pop to the next.
constexpr int kMaxInstructions = 64;

}  // namespace

bool epilogue_scan_ends(const MemoryReader& code, std::uint64_t ip, std::uint64_t begin,
                        std::uint64_t end) noexcept {
  // `add rsp, imm` and `lea rsp, [reg + disp]` may come first. Only their lengths matter, and code that is not an
  // epilogue ends the search in any case.
  Instructions next(code, ip);
  if ((next.peek().value_or(0) & 0xF8) == 0x48) {
    switch (next.peek(1).value_or(0)) {
      case 0x81: next.skip(7); break;
      case 0x83: next.skip(4); break;
      case 0x8D: {
        const unsigned mode = next.peek(2).value_or(0) >> 6;
        next.skip(mode == 0 ? 3 : mode == 1 ? 4 : 7);
        break;
      }
      default: break;
    }
  }
  for (int i = 0; i < kMaxInstructions; ++i) {
    if (next.take_pop()) continue;
    const bool rex = (next.peek().value_or(0) & 0xF0) == 0x40;
    const auto target = next.relative_jump(rex ? 1 : 0);
    if (!target || *target < begin || *target >= end) return true;
    next.go_to(*target);
  }
  return false;
}

}  // namespace mixwalk
